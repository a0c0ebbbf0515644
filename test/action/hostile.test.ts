// Names from manifests, paths, agents and traces that try to command the runner, forge outputs or break the summary.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { sarifProblems } from '../support/engine/sarif.js'
import { actionFile, newWorkspace, runAction } from '../support/git/action.js'

const names = parse(readFileSync(new URL('../cases/hostile-names.yaml', import.meta.url), 'utf8')) as string[]
const quoted = names.map((name) => JSON.stringify(name))
/** Those that a valid manifest may have: no hidden characters. */
const loadable = names.filter((name) => !/[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u.test(name))

const policies = loadable
  .map((name) => JSON.stringify(name))
  .map(
    (name) =>
      `  - name: ${name}\n    description: ${name}\n    rule_type: step_requires_gate\n    params: { target_step_names: [${name}], max_age_steps: 3 }\n    scope: step_execution\n    severity: critical\n`,
  )
const tests = loadable
  .map((name) => JSON.stringify(name))
  .map(
    (name) =>
      `  - name: ${name}\n    step: { step_type: step.resource, verb: POST, step_name: ${name} }\n    expect: { action: allow, violated: [] }\n`,
  )
const head = (name: string) => `name: ${name}\nversion: ${name}\n`
const valid = `${head(JSON.stringify(names[9]))}policies:\n${policies.join('')}tests:\n${tests.join('')}`
// Each name as an unknown rule, an unknown key, and a severity.
const broken = `${head('"b"')}policies:\n${quoted
  .map(
    (name) =>
      `  - name: P\n    rule_type: ${name}\n    scope: ${name}\n    severity: ${name}\n    ${name.replace('"', '"a ')}: 1\n`,
  )
  .join('')}`
const usable = names.filter((name) => !/[/\0]/.test(name) && !name.includes('\\') && name.trim() === name)
// All policies change.
const base = `${head('a')}policies:\n${policies.join('').replaceAll('max_age_steps: 3', 'max_age_steps: 2')}`.replace(
  'version: a',
  'version: "1"',
)
const agents = `agents:\n${quoted.map((name) => `  - { agent_key: ${name}, name: ${name} }\n`).join('')}`
const traces = names
  .map((name) => JSON.stringify({ task_id: name, step_type: 'step.resource', verb: 'POST', step_name: name }))
  .join('\n')

function hostileRun(files: Readonly<Record<string, string>>, inputs: Readonly<Record<string, string>> = {}) {
  const workspace = newWorkspace({ 'a.yaml': base })
  const sha = workspace.commit()
  workspace.write({ ...files, 'agents.yaml': agents, 't.jsonl': traces })
  const all = { paths: '.', inventory: 'agents.yaml', 'sarif-file': 'out.sarif', 'json-file': 'out.json', ...inputs }
  const event = { pull_request: { base: { sha, ref: '::error::main | <b>' } } }
  return { workspace, ...runAction(workspace, all, { event }) }
}

const annotated = Object.fromEntries(usable.map((name) => [`p/${name}.yaml`, 'policies: 1\n']))
const runs = [
  { what: 'valid manifests with failing tests', files: { 'a.yaml': valid }, inputs: { replay: 't.jsonl' } },
  { what: 'manifests with errors', files: { 'a.yaml': broken }, inputs: {} },
  { what: 'names of files', files: annotated, inputs: {} },
]

describe.each(runs)('hostile names in $what', ({ files, inputs }) => {
  const { workspace, code, commands, log, outputs, summary, network } = hostileRun(files, inputs)

  it('are findings, without network', () => {
    expect({ code, network }).toEqual({ code: 1, network: ['loaded'] })
    expect(Number(outputs.errors)).toBeGreaterThan(20)
  })

  it('give no command but annotations, ten of each kind at most', () => {
    const kinds = commands.map((command) => /^::(error|warning|notice)(?: [^:]*)?::[^\r\n]*$/.exec(command)?.[1])
    expect(commands.filter((_, index) => kinds[index] === undefined)).toEqual([])
    for (const kind of ['error', 'warning', 'notice'])
      expect(kinds.filter((one) => one === kind).length).toBeLessThanOrEqual(10)
    // Everything that the runner replaces in a command was escaped by the program.
    expect(commands.filter((command) => /%(?!25|3A|2C)/.test(command))).toEqual([])
  })

  it('leave no control character in the log and the summary', () => {
    expect(log.filter((line) => /[\p{Cc}\p{Bidi_Control}]/u.test(line))).toEqual([])
    expect(summary.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  it('are compared and replayed', () => {
    if (inputs.replay === undefined) return
    expect(outputs.looser).toBe(`${loadable.length}`)
    expect(JSON.parse(outputs['affected-agents'] ?? '')).toEqual(names)
    expect(summary).toContain('## Impact on recorded tasks')
  })

  it('set no output', () => {
    expect(Object.keys(outputs)).toEqual(Object.keys(actionFile.outputs))
    expect(outputs.valid).toBe('false')
  })

  it('show as text in the summary: every row of a table has its cells, and no line is another element', () => {
    const lines = summary.split('\n')
    const known = /^(\||- |> \*\*|#{1,3} |\*\*|$|[A-Z0-9][\w ]*|What makes)/
    expect(lines.filter((line) => !known.test(line) && !/^-? ?(`|\d)/.test(line))).toEqual([])
    for (const block of summary.split('\n\n').filter((part) => part.startsWith('|'))) {
      const cells = block.split('\n').map((line) => line.replace(/\\./g, '').split('|').length)
      expect(new Set(cells).size).toBe(1)
    }
    // Outside of code, a mark of HTML, an image or a link is escaped; links of the program lead to places in files.
    const prose = summary.replace(/(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)/g, '').replace(/<code>[^<]*<\/code>|<br>/g, '')
    expect(prose.replace(/\\./g, '')).not.toMatch(/<\w|<!|!\[|\]\(|@\w|::error|https:\/\//)
  })

  it('are in SARIF and JSON as they are', () => {
    const read = (name: string) => JSON.parse(readFileSync(`${workspace.folder}/${name}`, 'utf8'))
    if (sarifProblems !== null) expect(sarifProblems(read('out.sarif'))).toEqual([])
    expect(read('out.sarif').runs[0].results).toHaveLength(read('out.json').findings.length)
  })
})
