// `svc replay`: tables, JSON and Markdown of what policies would have done in recorded tasks.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const textOf = (steps: readonly object[]) => steps.map((step) => `${JSON.stringify(step)}\n`).join('')
const trace = (name: string, steps: readonly object[]) => file(name, textOf(steps))

const policy = (name: string, step_name: string, severity: string) =>
  `  - {name: ${name}, rule_type: step_requires_gate, params: {target_step_names: [${step_name}], max_age_steps: 1}, severity: ${severity}, scope: step_execution}\n`
const manifestText = (severity: string) =>
  `name: Desk\nversion: "1"\npolicies:\n${policy('Refunds need a gate', 'refund', severity)}${policy('Mails need a gate', 'send_mail', 'low')}`
const manifest = file('refunds.yaml', manifestText('critical'))
const older = file('older.yaml', manifestText('high'))

const step = (task_id: string, step_name: string) => ({ task_id, step_type: 'step.resource', verb: 'POST', step_name })
const start = (task_id: string) => ({ task_id, step_type: 'task.start' })
const end = (task_id: string) => ({ task_id, step_type: 'task.end' })
const gate = (task_id: string) => ({ task_id, step_type: 'step.gate' })
const steps = [start('t1'), start('t2'), step('t1', 'refund'), gate('t2'), step('t2', 'refund'), end('t1'), end('t2')]
const two = trace('two.jsonl', steps)

/** The words of the first printed command, as a shell splits them. */
function explainWords(out: string): string[] {
  const [, command = ''] = / (explain .*)/.exec(out) ?? []
  return execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

describe('svc replay', () => {
  it('prints what each policy would have done, and why', async () => {
    const { code, stdout, stderr } = await runSvc(['replay', two, '--manifest', manifest])
    expect([code, stderr]).toEqual([0, ''])
    const [before, command] = stdout.split(/^ {2}\S.* explain /m)
    expect(before).toBe(`replayed 2 tasks with 7 steps under 2 policies of ${manifest}
1 of 2 recorded tasks would be blocked

policy               severity  applied  passed  violated  blocked  asked  tasks
Refunds need a gate  critical        2       1         1        1      0      1
Mails need a gate    low             0       0         0        0      0      0  never applied

first steps that would not have been allowed (1 of 1 task)

blocked  task \`t1\`, step 2: step.resource POST refund
  Refunds need a gate blocks (critical; ${manifest}:4)
    why      no step.gate came before this step [GATE_MISSING]
    remedy   a passed step.gate right before this step
`)
    expect(command).toBe(`${manifest} --trace ${two} --task t1 --step 2

findings
  ${manifest}:5: info [never-applied] the policy \`Mails need a gate\` applied to no step of 2 replayed tasks: compare its target with their steps
`)
  })

  it('prints a command that explains the same step', async () => {
    const words = [start('it’s $(x)'), step('it’s $(x)', 'refund'), end('it’s $(x)'), start('it’s $(x)')]
    const path = trace('odd name.jsonl', words)
    const { stdout } = await runSvc(['replay', path, '--manifest', manifest])
    const args = explainWords(stdout)
    expect(args).toEqual(['explain', manifest, '--trace', path, '--task', 'it’s $(x)', '--step', '2'])
    const explained = await runSvc(args)
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('blocks  Refunds need a gate')])
  })

  it('compares two sets', async () => {
    const args = ['replay', two, '--manifest', manifest, '--against', older]
    const { code, stdout } = await runSvc(args)
    expect(code).toBe(0)
    expect(stdout).toContain(
      `compared with ${older}: 1 of 2 recorded tasks would now be blocked; 1 step in 1 task changes\n`,
    )
    expect(stdout).toContain(
      'steps whose outcome changes (1 of 1)\n\nallowed, with a warning → blocked  task `t1`, step 2',
    )
    expect(stdout).toContain(`  before: Refunds need a gate warns (high; ${older}:4)`)
    expect((await runSvc([...args, '--fail-on', 'flipped'])).code).toBe(1)
    expect((await runSvc(['replay', two, '--manifest', older, '--against', older, '--fail-on', 'flipped'])).code).toBe(
      0,
    )
  })

  it('prints the whole result as JSON', async () => {
    const args = ['replay', two, '--manifest', manifest, '--against', older, '--json', '--limit', '0']
    const { code, stdout } = await runSvc(args)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      manifests: [manifest],
      against: [older],
      tasks: 2,
      steps: 7,
      blocked_tasks: 1,
      flipped_tasks: 1,
      unreadable: [],
      policies: [{ name: 'Refunds need a gate', manifest, line: 4, example: { task_id: 't1', step: 2 } }, {}],
      flips: { total: 1, listed: [] },
      findings: [{ id: 'never-applied', file: manifest, line: 5 }],
    })
  })

  it('evaluates several manifests, folders and the baseline as one set', async () => {
    mkdirSync(join(folder, 'set'), { recursive: true })
    file('set/one.yaml', manifestText('critical'))
    file('set/two.yml', manifestText('low').replace('Desk', 'Other desk'))
    file('set/one.test.yaml', 'tests: []\n')
    file('set/ci.yaml', 'on: push\n')
    const args = ['replay', two, '--manifest', join(folder, 'set'), '--manifest', 'baseline', '--json']
    const { policies, manifests } = JSON.parse((await runSvc(args)).stdout)
    expect(manifests).toEqual([join(folder, 'set/one.yaml'), join(folder, 'set/two.yml'), 'baseline'])
    expect(policies).toHaveLength(2 + 2 + 15)
  })

  it('rejects a folder with a manifest whose `policies` is misspelt', async () => {
    mkdirSync(join(folder, 'misspelt'), { recursive: true })
    file('misspelt/one.yaml', manifestText('critical'))
    const wrong = file('misspelt/two.yaml', manifestText('low').replace('policies', 'policys'))
    const { code, stderr } = await runSvc(['replay', two, '--manifest', join(folder, 'misspelt')])
    expect([code, stderr.includes(`\`${wrong}\` is not valid`)]).toEqual([1, true])
  })

  it('replays the baseline when no manifest is given, and says so', async () => {
    const { code, stderr, stdout } = await runSvc(['replay', two])
    expect([code, stderr]).toEqual([0, 'svc replay: no --manifest given, the bundled baseline is replayed\n'])
    expect(stdout).toContain('under 15 policies of baseline')
  })

  it('takes the agent from a file', async () => {
    const agent = file('agent.yaml', 'risk_classification: minimal\n')
    const high = file('high.yaml', manifestText('critical').replaceAll('scope:', 'risk_classification: high, scope:'))
    const { stdout } = await runSvc(['replay', two, '--manifest', high, '--agent', agent])
    expect(stdout).toContain('for a higher risk level')
    expect(stdout).toContain('2 recorded tasks replayed, and every step would be allowed')
  })

  it('reads standard input, folders and several files', async () => {
    mkdirSync(join(folder, 'traces/b'), { recursive: true })
    file('traces/b/2.jsonl', textOf([step('t1', 'refund')]))
    file('traces/1.ndjson', textOf([start('t1')]))
    file('traces/notes.txt', 'not a trace')
    file('traces/.hidden.jsonl', 'not a trace')
    const args = ['replay', join(folder, 'traces'), '-', '--manifest', manifest]
    const { code, stdout } = await runSvc(args, {}, textOf([step('t2', 'refund')]))
    expect(code).toBe(0)
    expect(stdout).toContain('replayed 2 tasks with 3 steps')
    // Neither a task in two files nor standard input can be explained by a command.
    expect(stdout).toContain('(2 of 2 tasks)')
    expect(stdout).not.toContain(' explain ')
  })

  it('fails on blocked tasks when asked to', async () => {
    expect((await runSvc(['replay', two, '--manifest', manifest, '--fail-on', 'blocked'])).code).toBe(1)
    expect((await runSvc(['replay', two, '--manifest', older, '--fail-on', 'blocked'])).code).toBe(0)
  })

  it('names unreadable lines, replays the others, and ends with 1', async () => {
    const bad = file('bad.jsonl', `${textOf(steps)}{"step_type":"a","step_type":"b"}\n\n{"task_id":"t"}\nno\n`)
    const { code, stdout, stderr } = await runSvc(['replay', bad, '--manifest', manifest])
    expect(code).toBe(1)
    expect(stderr.split('\n')).toEqual([
      `svc replay: ${bad}:8: duplicate member name \`step_type\``,
      `svc replay: ${bad}:10: \`step_type\` is missing: every step has one`,
      `svc replay: ${bad}:11: not JSON: expected value, found something else`,
      '',
    ])
    expect(stdout).toContain('3 lines left out, because unreadable')
    expect(stdout).toContain('1 of 2 recorded tasks would be blocked')
  })

  it.each([
    ['a file without a step', () => ['replay', file('empty.jsonl', '\n'), '--manifest', manifest], 1, 'has no step'],
    ['a file that does not exist', () => ['replay', join(folder, 'no.jsonl')], 1, 'does not exist'],
    ['a folder without traces', () => ['replay', join(folder, 'set')], 1, 'has no file that ends in .jsonl'],
    [
      'an invalid manifest',
      () => ['replay', two, '--manifest', file('bad.yaml', 'name: A\nversion: "1"\npolicies: [{}]\n')],
      1,
      'bad.yaml:3:',
    ],
    ['a folder without manifests', () => ['replay', two, '--manifest', join(folder, 'traces')], 1, 'has no manifest'],
    ['no trace', () => ['replay'], 2, "missing required argument 'traces'"],
    ['flips without a comparison', () => ['replay', two, '--fail-on', 'flipped'], 2, 'needs --against'],
    ['two formats', () => ['replay', two, '--json', '--markdown'], 2, 'cannot be used with'],
    ['a negative limit', () => ['replay', two, '--limit', '-1'], 2, 'give a number'],
  ] as const)('rejects %s', async (_, args, code, message) => {
    const finished = await runSvc([...args()])
    expect([finished.code, finished.stderr]).toEqual([code, expect.stringContaining(message)])
  })

  it('keeps hostile names harmless on a terminal, in Markdown and in JSON', async () => {
    const hostile = '\u001b[31m\u202e|`<script>@team\n::error::x![a](http://x)'
    const path = trace('hostile.jsonl', [step(hostile, 'refund'), { ...step(hostile, 'refund'), step_type: hostile }])
    const args = ['replay', path, '--manifest', manifest]
    const [text, markdown, json] = await Promise.all([
      runSvc(args),
      runSvc([...args, '--markdown']),
      runSvc([...args, '--json']),
    ])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is checked
    for (const { stdout } of [text, markdown, json]) expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(text.stdout).not.toMatch(/^::/m)
    expect(markdown.stdout.replace(/\\./g, '')).not.toMatch(/<script|@team|!\[|http:|^::/m)
    expect(JSON.parse(json.stdout).first_blocks.listed[0].task_id).toBe(hostile)
  })
})
