// `svc diff`: two versions of manifests compared, from files, folders and Git.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc as run } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-diff-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Runs `svc` in a folder. */
const runSvc = async (args: readonly string[], cwd = folder) => {
  const { code, stdout: out, stderr: err } = await run(args, {}, '', cwd)
  return { code, out, err }
}

const few = (max_steps: number) =>
  `  - {name: Few commands, rule_type: execution_max_steps, params: {step_type: step.exec, max_steps: ${max_steps}}, severity: high, scope: step_execution}\n`
const named =
  '  - {name: Steps have names, rule_type: field_not_empty, params: {field: step_name}, severity: low, scope: step_execution}\n'
const manifest = (version: string, policies: string) =>
  `name: Refund desk\nversion: "${version}"\npolicies:\n${policies}`

const old = file('old/refunds.yaml', manifest('1.2.0', few(10) + named))
const next = file('new/refunds.yaml', manifest('1.3.0', few(5)))
file('old/other.yml', 'on: push\n')
file('old/mail/send.yaml', manifest('1', named))
file('new/mail/send.yaml', `# a comment\n${manifest('1', named)}`)
file('old/.hidden/x.yaml', manifest('1', named))
const inventory = file(
  'agents.yaml',
  'agents:\n  - {agent_key: desk, name: Desk, risk_classification: high, manifests: [refunds.yaml]}\n  - {agent_key: mail, manifests: [mail/send.yaml]}\n',
)
const inFolder = (name: string) => join(folder, name)

describe('svc diff', () => {
  it('says what becomes stricter or looser, and for which agents', async () => {
    const { code, out, err } = await runSvc(['diff', inFolder('old'), inFolder('new'), '--inventory', inventory])
    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(`refunds.yaml  Refund desk 1.2.0 → 1.3.0
  removed    Steps have names
  stricter   Few commands
               max_steps 10 → 5 (stricter)
  agents
    desk (Desk, high)
      removed    Steps have names
      stricter   Few commands

2 manifests compared: 1 policy is removed and 1 policy becomes stricter; 1 agent affected
`)
  })

  it('prints the same as JSON and as Markdown', async () => {
    const json = JSON.parse((await runSvc(['diff', old, next, '--json'])).out)
    expect(json).toMatchObject({ compared: 1, counts: { removed: 1, stricter: 1, looser: 0 }, unreadable: [] })
    expect(json.manifests[0].policies[0]).toEqual({
      name: 'Few commands',
      change: 'stricter',
      members: [{ path: 'params.max_steps', old: 10, new: 5, effect: 'stricter' }],
    })
    const { out } = await runSvc(['diff', old, next, '--markdown'])
    expect(out).toContain('| stricter | Few commands | `max_steps` 10 → 5 (stricter) |')
  })

  it('has no effect where only the form differs', async () => {
    const { code, out } = await runSvc([
      'diff',
      join(folder, 'old/mail'),
      join(folder, 'new/mail'),
      '--fail-on',
      'changed',
    ])
    expect([code, out]).toEqual([0, '1 manifest compared: no policy changes its effect\n'])
  })

  it('fails on a looser policy, a removed one and an ungoverned agent', async () => {
    expect((await runSvc(['diff', old, next, '--fail-on', 'looser'])).code).toBe(1)
    const [one, two] = [file('one.yaml', manifest('1', few(1))), file('two.yaml', manifest('1', few(2)))]
    expect((await runSvc(['diff', one, two, '--fail-on', 'looser'])).code).toBe(1)
    expect((await runSvc(['diff', two, one, '--fail-on', 'looser'])).code).toBe(0)
    const { code, out } = await runSvc([
      'diff',
      inFolder('old'),
      inFolder('new/mail'),
      '--inventory',
      inventory,
      '--json',
    ])
    expect([code, JSON.parse(out).ungoverned_agents]).toEqual([0, ['desk', 'mail']])
  })
})

describe('svc diff, on input that cannot be used,', () => {
  it('names the errors of a manifest and compares the others', async () => {
    file('bad/refunds.yaml', manifest('1', few(5).replace('5', 'five')))
    file('bad/mail/send.yaml', manifest('1', named))
    const { code, out, err } = await runSvc(['diff', inFolder('old'), inFolder('bad')])
    expect(code).toBe(1)
    expect(err).toMatch(/bad\/refunds\.yaml:4:\d+: .*max_steps/)
    const missing = `not compared, because of errors now or before: ${inFolder('bad/refunds.yaml')}`
    expect(out).toBe(`1 manifest compared: no policy changes its effect\n${missing}\n`)
  })

  it.each([
    ['a path that does not exist', () => ['nowhere', next], 2],
    ['a file and a folder', () => [old, inFolder('new')], 2],
    ['an unknown change', () => [old, next, '--fail-on', 'everything'], 2],
    ['two forms', () => [old, next, '--json', '--markdown'], 2],
    ['one path', () => [old], 2],
    ['folders without a manifest', () => [inFolder('empty'), inFolder('empty')], 1],
    ['an inventory that is not one', () => [old, next, '--inventory', file('bad.yaml', '- {name: x}\n')], 1],
    ['an inventory that does not exist', () => [old, next, '--inventory', inFolder('none.yaml')], 1],
  ] as const)('%s', async (_, args, expected) => {
    mkdirSync(inFolder('empty'), { recursive: true })
    const { code, err } = await runSvc(['diff', ...args()])
    expect([code, err === '']).toEqual([expected, false])
  })
})

describe('svc diff in a Git repository', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', inFolder('repo'), '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args])
  const repository = () => {
    file('repo/policies/refunds.yaml', manifest('1', few(10)))
    file('repo/policies/GONE.YML', manifest('1', named))
    file('repo/policies/x.test.yaml', 'tests: []\n')
    file('repo/policies/node_modules/a.yaml', manifest('1', named))
    git('init', '-q')
    git('add', '.')
    git('commit', '-q', '-m', 'one')
    file('repo/policies/refunds.yaml', manifest('1', few(20)))
    rmSync(inFolder('repo/policies/GONE.YML'))
  }
  const diff = (...args: string[]) => runSvc(['diff', ...args], inFolder('repo'))

  it('compares a commit with the working tree', async () => {
    repository()
    const { code, out, err } = await diff('HEAD:policies', 'policies')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('GONE.YML  Refund desk 1 (manifest deleted)')
    expect(out).toContain('2 manifests compared: 1 policy is removed and 1 policy becomes looser')
    expect((await diff('HEAD:policies', 'HEAD:./policies')).out).toBe(
      '2 manifests compared: no policy changes its effect\n',
    )
    expect((await diff('HEAD:policies/refunds.yaml', 'policies/refunds.yaml')).out).toContain(
      'max_steps 10 → 20 (looser)',
    )
    expect((await diff('HEAD:', 'HEAD:')).out).toContain('2 manifests compared')
  })

  it.each([
    ['HEAD:nowhere', 'the commit has no file or folder'],
    ['none:policies', 'is not a commit'],
    ['--output=x:policies', 'is not the name of a commit'],
    ['HEAD..HEAD:policies', 'is not the name of a commit'],
    ['HEAD;touch x:policies', 'is not the name of a commit'],
    [':policies', 'is not the name of a commit'],
  ])('rejects %s', async (given, message) => {
    const { code, err } = await diff('--', given, 'policies')
    expect([code, err.includes(message)]).toEqual([2, true])
  })
})
