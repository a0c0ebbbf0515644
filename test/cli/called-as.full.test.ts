// The way svc is called: printed commands must work when they are pasted.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { calledAs, shellWord } from '../../cli/called-as.js'
import { startSvc } from '../support/cli/svc.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const svcFile = realpathSync(join(root, 'cli/bin/svc.js'))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-called-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder with a link `svc` to a program. */
function linkIn(name: string, target: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  symlinkSync(target, join(path, 'svc'))
  return path
}

const installed = linkIn('bin', svcFile)
const other = linkIn('other', '/bin/sh')
const project = join(folder, 'project')
const local = linkIn('project/node_modules/.bin', svcFile)
mkdirSync(join(project, 'src'))

describe('the name of the command', () => {
  it.each([
    { what: 'an installed svc', cwd: folder, path: ['/bin', installed], svc: 'svc' },
    { what: 'an installed svc, in a clone', cwd: project, path: [local, installed], svc: 'svc' },
    { what: 'npx in a clone', cwd: project, path: [local, '/bin'], svc: 'npx --no-install svc' },
    { what: 'a folder of a clone', cwd: join(project, 'src'), path: ['/bin'], svc: 'npx --no-install svc' },
    { what: 'another program svc', cwd: project, path: [other], svc: 'npx --no-install svc' },
    { what: 'a path, elsewhere', cwd: folder, path: [other, local], svc: `node ${svcFile}` },
    { what: 'no PATH', cwd: folder, path: [], svc: `node ${svcFile}` },
  ])('is $svc for $what', ({ cwd, path, svc }) => {
    expect(calledAs({ program: svcFile, cwd, path: path.join(delimiter) })).toBe(svc)
  })

  it('is svc without a program', () => {
    expect(calledAs({ program: '', cwd: folder, path: '' })).toBe('svc')
  })
})

describe('a word of the shell', () => {
  it.each(['january.zip', 'a b', "it's", '$(x)', '', 'é', '-x', 'a\nb'])('keeps its text: %j', (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text)
  })
})

const manifest = join(folder, 'm.yaml')
writeFileSync(
  manifest,
  'name: m\nversion: "1"\npolicies:\n  - {name: p, rule_type: zzzzzzzz, severity: low, scope: step_execution}\n',
)
const trace = join(folder, 't.jsonl')
writeFileSync(trace, '{"step_type": "step.gate", "task_id": "t"}\n')

const spellings = [
  { svc: 'svc', path: `${process.env.PATH}${delimiter}${installed}` },
  { svc: 'npx --no-install svc', path: process.env.PATH ?? '' },
]

describe.each(spellings)('hints of $svc', ({ svc, path }) => {
  const run = (args: readonly string[]) => startSvc(args, { PATH: path, SVC_CONFIG_DIR: folder }).finished

  it.each([
    [[]],
    [['serve']],
    [['explain']],
    [['import']],
    [['rules']],
    [['steps']],
    [['verify']],
    [['witness']],
    [['attack-demo']],
    [['login']],
    [['logout']],
    [['whoami']],
    [['account']],
    [['workspace']],
    [['key']],
    [['checkpoint']],
    [['bundle']],
  ])('--help names no other command: %j', async (args) => {
    const { code, stdout } = await run([...args, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: ${svc} `)
    const commands = stdout.match(/(?:[^\s]+ )*\bsvc [a-z-]+/g) ?? []
    for (const command of commands) expect(command).toContain(`${svc} `)
  })

  it.each([
    [['whoami']],
    [['checkpoint']],
    [['bundle']],
    [['account', 'end', 'mia@example.org']],
    [['workspace', 'list']],
    [['key', 'list']],
  ])('an error names the login: %j', async (args) => {
    expect(await run(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `svc: you are not logged in: run \`${svc} login\` for http://127.0.0.1:8080, or add \`--url\` for another platform\n`,
    })
  })

  it.each([
    ['an unknown rule', ['rules', '--name', 'zzzzzzzz'], 'rules', 2],
    ['an error of a manifest', ['explain', manifest, '--trace', trace, '--step', '1'], 'rules', 2],
  ] as const)('an error names the command: %s', async (_, args, command, exit) => {
    const { code, stderr } = await run(args)
    expect(code).toBe(exit)
    expect(stderr).toContain(`\`${svc} ${command}\``)
  })

  it('a rejected policy names the command: svc serve', async () => {
    const env = { PATH: path, SVC_DATA_DIR: folder }
    const { child, finished } = startSvc(['serve', '--port', '0', '--policy-file', manifest], env)
    child.stderr?.once('data', () => child.kill('SIGTERM'))
    expect((await finished).stderr).toContain(`\`${svc} rules\``)
  })
})
