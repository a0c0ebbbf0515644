// `svc import` of documents and folders: the runs, and one message for each file that has none; the guesses about tools.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createChecker } from '@svc/engine/parts'
import { type Behavior, documents } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runSvc } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface FilesCase {
  readonly name: string
  readonly format: string
  readonly import?: string
  readonly files: Readonly<Record<string, unknown>>
  readonly code?: number
  readonly runs?: readonly string[]
  readonly stderr: readonly string[]
}

const cases = (name: string): unknown =>
  parse(readFileSync(new URL(`../cases/import/${name}.yaml`, import.meta.url), 'utf8'))

/** A new folder with the files: text and bytes as they are, other values as indented JSON. */
function write(files: FilesCase['files']): string {
  const path = mkdtempSync(join(folder, 'runs-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    const isWhole = typeof content === 'string' || content instanceof Uint8Array
    writeFileSync(join(path, name), isWhole ? content : JSON.stringify(content, null, 2))
  }
  return path
}

function stepsIn(path: string): Behavior[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Behavior)
}

const check = createChecker(Object.values(documents))('behavior.json')

describe('files and folders', () => {
  it.each(cases('files') as FilesCase[])('$name', async ({ format, import: name = '', files, code, runs, stderr }) => {
    const path = write(files)
    const out = `${path}.out`
    const result = await runSvc(['import', format, join(path, name), '--out', out])
    const lines = result.stderr
      .replaceAll(out, 'OUT')
      .replaceAll(path, 'FILE')
      .replaceAll(/(node \S+|npx --no-install svc|\bsvc) import (?=\w)/g, 'SVC import ')
      .split('\n')
    expect(lines.slice(0, -1)).toEqual(stderr)
    expect(result.code).toBe(code ?? (stderr.length === 0 ? 0 : 1))
    if (runs === undefined) return
    const steps = stepsIn(out)
    expect(steps.flatMap((step) => check(step))).toEqual([])
    const starts = steps.filter(({ step_type }) => step_type === 'task.start')
    expect(starts.map(({ meta }) => (meta as { run: { run_id: string } }).run.run_id)).toEqual(runs)
    expect(new Set(starts.map(({ timestamp }) => timestamp)).size).toBe(runs.length)
  })

  it('a folder is the agent of its runs, and gives the same bytes again', async () => {
    const run = { messages: [{ role: 'user', content: 'Hi' }] }
    const path = write({ 'desk/a.json': run, 'desk/b/c.json': run })
    const import_ = () => runSvc(['import', 'recorder', `${path}/desk/`, '--out', join(path, 'out.jsonl'), '--json'])
    expect(JSON.parse((await import_()).stdout)).toMatchObject({ runs: 2, steps: 6, bad_lines: 0, bad_documents: 0 })
    const first = readFileSync(join(path, 'out.jsonl'), 'utf8')
    expect(stepsIn(join(path, 'out.jsonl'))[0]?.agent_id).toBe('desk')
    await import_()
    expect(readFileSync(join(path, 'out.jsonl'), 'utf8')).toBe(first)
  })

  it('steps are not written where the next import would read them', async () => {
    const path = write({ 'a.json': { messages: [{ role: 'user' }] } })
    const { code, stderr } = await runSvc(['import', 'recorder', path, '--out', join(path, 'b', 'steps.jsonl')])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'svc import: `--out` is in the imported folder, where the next import would read it: write it elsewhere\n',
    })
  })

  it('a run is followed by a line that is not UTF-8', async () => {
    const path = write({ 'a.jsonl': '{"run_id": "a", "messages": [{"role": "user"}]}\n' })
    appendFileSync(join(path, 'a.jsonl'), Buffer.from([0x22, 0xff, 0x22, 0x0a]))
    const { code, stderr } = await runSvc(['import', 'recorder', join(path, 'a.jsonl'), '--out', `${path}.out`])
    expect({ code, stderr: stderr.replaceAll(path, 'FILE') }).toEqual({ code: 1, stderr: 'FILE/a.jsonl:2 not UTF-8\n' })
    expect(stepsIn(`${path}.out`)).toHaveLength(3)
  })

  it('a document has up to 64 MiB', async () => {
    const path = write({ 'large.json': `{\n${' '.repeat(64 * 1024 * 1024)}\n}` })
    const { code, stderr } = await runSvc(['import', 'recorder', join(path, 'large.json'), '--out', `${path}.out`])
    expect({ code, stderr: stderr.replaceAll(path, 'FILE') }).toEqual({
      code: 1,
      stderr: 'FILE/large.json: a document longer than 64 MiB: write one run per line\n',
    })
  })

  it('standard input may be a document', async () => {
    const out = join(folder, 'piped.jsonl')
    const text = JSON.stringify({ messages: [{ role: 'user' }] }, null, 2)
    const args = ['import', 'recorder', '-', '--agent-key', 'desk', '--out', out]
    expect(await runSvc(args, {}, text)).toMatchObject({ code: 0, stderr: '' })
    expect(stepsIn(out)[0]?.meta?.run).toEqual({ run_id: 'desk' })
  })

  it('a key is not part of the command to write', async () => {
    const path = write({ 'a.json': { messages: [{ role: 'assistant', tool_calls: [{ function: 'pay' }] }] } })
    const to = ['--to', 'http://127.0.0.1:1', '--api-key', 'SvcKey-secret', '--json', '--agent-key', 'my desk']
    const { code, stderr } = await runSvc(['import', 'chat-completions', path, ...to])
    expect(code).toBe(2)
    expect(stderr).not.toContain('SvcKey-secret')
    expect(stderr).toContain(`--agent-key 'my desk' --to http://127.0.0.1:1 --api-key SvcKey-… --json\n`)
  })
})

describe('guesses about tools', () => {
  const names = Object.keys(cases('tools') as Record<string, unknown>)
  const odd = [
    'yes',
    'null',
    '12',
    '-',
    '# x',
    'a: b',
    '"q" \u001b[2J',
    '\u202eevil',
    '<<',
    ' ',
    '日本 x',
    '😀',
    'k'.repeat(2000),
  ]
  /** Keys that files of YAML cannot have here. */
  const unwritable = ['<<', 'constructor']
  const tool_calls = [...names, ...odd].map((name) => ({ function: name, args: {} }))
  const path = write({ 'runs/a.json': { messages: [{ role: 'assistant', tool_calls }] } })
  const importRuns = (...args: string[]) =>
    runSvc(['import', 'recorder', join(path, 'runs'), '--out', join(path, 'out.jsonl'), ...args])

  interface Report {
    readonly guessed_tools: readonly { tool: string; reasons: string[]; guessed: unknown; entry: unknown }[]
    readonly tools_yaml: string
  }

  it('are listed with an entry each; the entries as printed settle them', async () => {
    const { stdout } = await importRuns()
    const [, yaml = ''] = stdout.split('--tools:\n')
    // Characters that change a terminal are escaped.
    expect(yaml).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
    writeFileSync(join(path, 'tools.yaml'), yaml)
    const report = JSON.parse((await importRuns('--json')).stdout) as Report
    expect(yaml.trim()).toBe(report.tools_yaml)
    const entries = report.guessed_tools.filter(({ tool }) => !unwritable.includes(tool))
    expect(parse(report.tools_yaml)).toEqual(Object.fromEntries(entries.map(({ tool, entry }) => [tool, entry])))
    expect(report.guessed_tools.map(({ tool }) => tool)).toEqual(expect.arrayContaining(odd))
    const again = await importRuns('--tools', join(path, 'tools.yaml'), '--json')
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
    const left = (JSON.parse(again.stdout) as Report).guessed_tools.map(({ tool }) => tool)
    expect(left.sort()).toEqual(unwritable)
  })

  it('without a label in the steps are said to have none', async () => {
    const calls = ['read_inbox', 'web_search', 'open_account'].map((name) => ({ function: name, args: {} }))
    const one = write({ 'a.json': { messages: [{ role: 'assistant', tool_calls: calls }] } })
    const out = join(one, 'out')
    const { stdout } = await runSvc(['import', 'recorder', join(one, 'a.json'), '--out', out])
    expect(stdout.split('\n').slice(1)).toEqual([
      '3 tools are guessed in a way that can change a decision; check these entries in a file for --tools:',
      '',
      '# may be another verb, or only read',
      'open_account: { step_type: step.resource, verb: POST }',
      '# may return what people outside wrote; the steps have no label yet: third_party, public or own',
      'read_inbox: { step_type: step.message, verb: GET, properties: { content: { trust: third_party } } }',
      '# reads the web by its name; these labels are in the steps',
      'web_search: { step_type: step.resource, verb: GET, properties: { target: { trust: external }, content: { trust: public } } }',
      '',
    ])
    const properties = stepsIn(out).flatMap((step) => (step.step_name === 'read_inbox' ? [step.properties] : []))
    expect(properties).toEqual([{}])
  })
})
