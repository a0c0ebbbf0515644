// The GitHub Action as the runner starts it: findings, annotations, files, outputs and exit codes.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finding } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { defaults } from '../../action/inputs.js'
import { runSvc } from '../support/cli/svc.js'
import { expectedFindings, invalidManifests, placesOf } from '../support/engine/invalid-manifests.js'
import { sarifProblems } from '../support/engine/sarif.js'
import { actionFile, guard, newWorkspace, runAction, temporary } from '../support/git/action.js'

const cases = new URL('../cases/manifests/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, cases), 'utf8')
const policy = (name: string, severity = 'critical') =>
  `  - name: ${JSON.stringify(name)}\n    rule_type: step_requires_gate\n    params: { target_step_names: [refund] }\n    scope: step_execution\n    severity: ${severity}\n`
const manifest = (...policies: readonly string[]) =>
  `name: Refund desk\nversion: "1.0.0"\npolicies:\n${policies.join('')}`
const test = (expected: string) =>
  `tests:\n  - name: A refund without approval\n    step: { step_type: step.resource, verb: POST, step_name: refund }\n    expect: { action: ${expected} }\n`
const expired =
  'waivers:\n  - { policy: P, agent_key: a, reason: r, approved_by: b@example.org, expires: 2020-01-01 }\n'
const valid = manifest(policy('P'))

interface Json {
  readonly valid: boolean
  readonly findings: readonly Finding[]
}
const jsonOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'out/report.json'), 'utf8')) as Json

describe('action.yml', () => {
  it('has the inputs that the program reads, with the same defaults', () => {
    const given = Object.entries(actionFile.inputs).map(([name, { default: value }]) => [name, value])
    expect(Object.fromEntries(given)).toEqual(defaults)
  })

  it('has the outputs that the program writes', () => {
    const { outputs } = runAction(newWorkspace({ 'a.yaml': valid }))
    expect(Object.keys(outputs)).toEqual(Object.keys(actionFile.outputs))
  })

  it('is described completely in README.md', () => {
    const page = readFileSync(new URL('../../action/README.md', import.meta.url), 'utf8')
    const cell = (text: string) => text.replaceAll('|', '\\|')
    for (const [name, { description, default: value }] of Object.entries(actionFile.inputs))
      expect(page).toContain(`| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${cell(description)} |`)
    for (const [name, { description }] of Object.entries(actionFile.outputs))
      expect(page).toContain(`| \`${name}\` | ${cell(description)} |`)
  })
})

describe('the findings', () => {
  it('are those of `svc validate` for the same files', async () => {
    const broken = ['errors.yaml', 'syntax.yaml'].flatMap((name) => parse(textOf(name)) as { text: string }[])
    const names = broken.map((_, index) => `case-${`${index}`.padStart(3, '0')}.yaml`)
    const workspace = newWorkspace(Object.fromEntries(names.map((name, index) => [name, broken[index]?.text ?? ''])))
    const paths = names.map((name) => join(workspace.folder, name))
    const { code } = runAction(workspace, { paths: names.join('\n'), tests: 'off', 'json-file': 'out/report.json' })
    expect(code).toBe(1)
    const ours = jsonOf(workspace.folder).findings
    const { stdout } = await runSvc(['validate', ...paths, '--json'])
    const theirs = (JSON.parse(stdout) as Json).findings
    expect(ours).toEqual(theirs.map((one) => ({ ...one, file: one.file.slice(workspace.folder.length + 1) })))
    expect(new Set(ours.map(({ file }) => file)).size).toBeGreaterThan(100)
  })

  it('of each common slip are those of the core', () => {
    const workspace = newWorkspace(Object.fromEntries(invalidManifests.map(({ path, text }) => [path, text])))
    runAction(workspace, { 'json-file': 'out/report.json' })
    const { findings } = jsonOf(workspace.folder)
    for (const [path, expected] of Object.entries(expectedFindings))
      expect(placesOf(findings.filter(({ file }) => file === path))).toEqual(expected)
  })

  it('of tests are those of `svc test`', async () => {
    const files = { 'a.yaml': textOf('refund-desk.yaml'), 'a.test.yaml': textOf('refund-desk.test.yaml') }
    const workspace = newWorkspace(files)
    const { outputs, summary } = runAction(workspace, { 'json-file': 'out/report.json' })
    const { stdout } = await runSvc(['test', join(workspace.folder, 'a.yaml'), '--json'])
    const shown = ({ findings }: Json) => findings.map(({ id, line, column, message }) => [id, line, column, message])
    expect(shown(jsonOf(workspace.folder))).toEqual(shown(JSON.parse(stdout)))
    expect(outputs).toMatchObject({ 'tests-passed': '13', 'tests-failed': '2', errors: '2', policies: '5' })
    expect(summary).toContain('expected the action block, got allow')
  })
})

describe('annotations', () => {
  it('are sorted, errors first, nine of each kind and the number of the others', () => {
    const many = Array.from({ length: 12 }, (_, index) => policy(`P${index}`, 'urgent'))
    const { commands, log } = runAction(newWorkspace({ 'b.yaml': manifest(...many), 'a.yaml': `${valid}${expired}` }))
    const message = (index: number) =>
      `::error file=b.yaml,line=${8 + 5 * index},col=15,title=A value is not accepted (wrong-value)::\`policies[${index}].severity\` must be one of low, medium, high, critical, found \`urgent\``
    expect(commands.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, index) => message(index)))
    expect(commands[9]).toBe('::error::3 more: see the job summary')
    expect(commands[10]).toMatch(/^::warning file=a.yaml,line=10,col=\d+,title=A waiver has ended \(expired-waiver\)::/)
    expect(commands).toHaveLength(11)
    expect(log.filter((line) => line.startsWith('error b.yaml:'))).toHaveLength(12)
  })

  it('can be switched off, as can the summary', () => {
    const off = { annotations: 'false', summary: 'FALSE' }
    const { commands, summary, code } = runAction(newWorkspace({ 'a.yaml': 'policies: []\n' }), off)
    expect({ commands, summary, code }).toEqual({ commands: [], summary: '', code: 1 })
  })
})

describe('files', () => {
  it.runIf(sarifProblems !== null)('with findings as SARIF fit the schema of the standard', () => {
    const workspace = newWorkspace({ 'policies/a b.yaml': manifest(policy('P', 'urgent')) })
    runAction(workspace, { 'sarif-file': 'out/findings.sarif' })
    const log = JSON.parse(readFileSync(join(workspace.folder, 'out/findings.sarif'), 'utf8'))
    expect(sarifProblems?.(log)).toEqual([])
    expect(log.runs[0].results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'policies/a%20b.yaml', uriBaseId: '%SRCROOT%' },
      region: { startLine: 8, startColumn: 15 },
    })
  })
})

interface Run {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly inputs?: Readonly<Record<string, string>>
  readonly code: 0 | 1 | 2
  readonly valid?: string
  /** Part of a command. */
  readonly says?: string
}

const runs: readonly Run[] = [
  { name: 'valid manifests', files: { 'a.yaml': valid }, code: 0, valid: 'true' },
  { name: 'a warning', files: { 'a.yaml': valid + expired }, code: 0, valid: 'true' },
  {
    name: 'a warning with strict',
    files: { 'a.yaml': valid + expired },
    inputs: { strict: 'true' },
    code: 1,
    valid: 'false',
  },
  {
    name: 'a warning that fails',
    files: { 'a.yaml': valid + expired },
    inputs: { 'fail-on': 'warning' },
    code: 1,
    valid: 'true',
  },
  {
    name: 'errors that only report',
    files: { 'a.yaml': 'policies: 1\n' },
    inputs: { 'fail-on': 'never' },
    code: 0,
    valid: 'false',
  },
  { name: 'a passed test', files: { 'a.yaml': valid + test('block') }, code: 0, valid: 'true' },
  { name: 'a failed test', files: { 'a.yaml': valid + test('allow') }, code: 1, valid: 'false' },
  {
    name: 'a failed test that is not run',
    files: { 'a.yaml': valid + test('allow') },
    inputs: { tests: 'off' },
    code: 0,
  },
  {
    name: 'required tests that are missing',
    files: { 'a.yaml': valid },
    inputs: { tests: 'required' },
    code: 1,
    says: 'no-tests',
  },
  {
    name: 'a test of an unknown policy',
    files: { 'a.yaml': valid + test('block').replace('action: block', 'violated: [Q]') },
    code: 1,
    says: 'unknown-policy',
  },
  { name: 'no manifest', files: { 'a.yaml': 'a: 1\n' }, code: 1, says: 'no-manifest' },
  { name: 'an empty workspace', files: {}, code: 1, says: 'no-manifest' },
  {
    name: 'a missing path',
    files: { 'a.yaml': valid },
    inputs: { paths: 'a.yaml, b.yaml' },
    code: 1,
    says: 'unreadable-file',
  },
  {
    name: 'a pattern without a match',
    files: { 'a.yaml': valid },
    inputs: { paths: 'a.yaml\np/**/*.yaml' },
    code: 1,
    says: '`p/**/*.yaml` in `paths` selects no manifest',
  },
  {
    name: 'a folder without a manifest beside one that has some',
    files: { 'p/a.yaml': valid, 'q/b.yaml': 'a: 1\n' },
    inputs: { paths: 'p, q' },
    code: 1,
    says: '`q` in `paths` selects no manifest',
  },
  {
    name: 'a pattern that matches other YAML files only',
    files: { 'p/a.yaml': valid, 'q/b.yaml': 'a: 1\n' },
    inputs: { paths: 'p, q/*' },
    code: 1,
    says: '`q/*` in `paths` selects no manifest',
  },
  {
    name: 'a file of tests, which selects its manifest',
    files: { 'p/a.yaml': valid, 'p/a.test.yaml': test('block'), 'q/a.yaml': valid },
    inputs: { paths: 'q, p/*.test.yaml' },
    code: 0,
  },
  {
    name: 'patterns',
    files: { 'p/q/a.yaml': valid, 'p/b.yml': valid, 'c.yaml': '{', 'p/node_modules/d.yaml': '{' },
    inputs: { paths: 'p/**/*.yaml,p/?.yml' },
    code: 0,
  },
  {
    name: 'a dot folder that is named',
    files: { '.github/policies/a.yaml': valid, 'p/.b/c/d.yaml': valid },
    inputs: { paths: '.github/policies/*, **/.b/**' },
    code: 0,
  },
  {
    name: 'an unknown value',
    files: {},
    inputs: { tests: 'some' },
    code: 2,
    says: '`tests` must be `off` or `if-present` or `required`, found `some`',
  },
  {
    name: 'a path outside',
    files: {},
    inputs: { paths: '../a' },
    code: 2,
    says: '`paths` must be inside of the workspace, found `../a`',
  },
  { name: 'an excluding path', files: {}, inputs: { paths: '!a.yaml' }, code: 2, says: 'cannot exclude' },
  {
    name: 'an option as base',
    files: {},
    inputs: { 'base-ref': '--output=a' },
    code: 2,
    says: '`base-ref` must be a commit',
  },
  {
    name: 'a missing inventory',
    files: { 'a.yaml': valid },
    inputs: { inventory: 'agents.yaml' },
    code: 2,
    says: 'cannot be read',
  },
  {
    name: 'a broken inventory',
    files: { 'a.yaml': valid, i: '- name: x\n' },
    inputs: { inventory: 'i' },
    code: 2,
    says: '`inventory`: i:1:3: `0` `agent_key` is missing',
  },
  {
    name: 'no trace',
    files: { 'a.yaml': valid },
    inputs: { replay: 'traces/*.jsonl' },
    code: 2,
    says: 'matches no file',
  },
  {
    name: 'a trace without a step',
    files: { 'a.yaml': valid, 't.jsonl': '{}\n' },
    inputs: { replay: 't.jsonl' },
    code: 2,
    says: 'has no step',
  },
  {
    name: 'a file that cannot be written',
    files: { 'a.yaml': valid },
    inputs: { 'sarif-file': 'a.yaml/b' },
    code: 2,
    says: '`sarif-file`: `a.yaml/b` cannot be written',
  },
]

describe('the exit code', () => {
  it.each(runs)('of $name is $code', ({ files, inputs = {}, code, valid: expected, says = '' }) => {
    const result = runAction(newWorkspace(files), inputs)
    expect(result.code).toBe(code)
    expect(result.commands.join('\n')).toContain(says)
    if (expected !== undefined) expect(result.outputs.valid).toBe(expected)
    if (code === 2) expect(result.outputs).toEqual({})
    expect(result.network).toEqual(['loaded'])
  })
})

describe('the guard against network', () => {
  it.each([
    "fetch('http://127.0.0.1:3999/')",
    "import('node:https').then(({ get }) => get('https://127.0.0.1:3999/'))",
    "import('node:dns').then(({ lookup }) => lookup('example.org', () => 0))",
    "import('node:net').then(({ connect }) => connect(3999))",
  ])('sees %s', (code) => {
    const network = join(temporary(), 'network')
    const env = { PATH: process.env.PATH, SVC_TEST_NETWORK: network }
    spawnSync(process.execPath, ['--import', guard, '--eval', code], { env, cwd: fileURLToPath(cases) })
    expect(readFileSync(network, 'utf8').split('\n').length).toBeGreaterThan(2)
  })
})
