// `svc import` into a file: the steps, the rejected lines and the messages.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createChecker } from '@svc/engine/parts'
import { type Behavior, documents } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runSvc } from '../support/cli/svc.js'
import { sharedData } from '../support/server/shared.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const out = join(folder, 'steps.jsonl')
const run = (run_id: string, content = 'hi') => JSON.stringify({ run_id, messages: [{ role: 'user', content }] })

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function importInto(path: string, ...args: string[]) {
  return runSvc(['import', 'chat-completions', path, '--out', out, ...args])
}

function steps(): Behavior[] {
  const lines = readFileSync(out, 'utf8').split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line) as Behavior)
}

describe('a file of steps', () => {
  it('has one valid step per line, the same every time', async () => {
    const path = write('desk.jsonl', `${run('a')}\n${run('b')}\n`)
    const { code, stdout, stderr } = await importInto(path)
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '2 runs, 6 steps: 6 new, 0 already stored, 0 runs failed\n',
      stderr: '',
    })
    const check = createChecker(Object.values(documents))('behavior.json')
    expect(steps().flatMap((step) => check(step))).toEqual([])
    expect(steps().map(({ agent_id, timestamp, step }) => [agent_id, timestamp, step])).toEqual([
      ['desk', '2026-01-01T00:00:00.000Z', 1],
      ['desk', '2026-01-01T00:00:01.000Z', 2],
      ['desk', '2026-01-01T00:00:02.000Z', 3],
      ['desk', '2026-01-01T01:00:00.000Z', 1],
      ['desk', '2026-01-01T01:00:01.000Z', 2],
      ['desk', '2026-01-01T01:00:02.000Z', 3],
    ])
    const first = readFileSync(out)
    expect((await importInto(path)).code).toBe(0)
    expect(readFileSync(out).equals(first)).toBe(true)
  })

  it('has the start time and the agent of the options', async () => {
    await importInto(write('x.jsonl', run('a')), '--agent-key', 'refund desk', '--start', '2020-02-29T23:59:59+01:00')
    expect(steps()[0]).toMatchObject({ agent_id: 'refund desk', timestamp: '2020-02-29T22:59:59.000Z' })
  })

  it('is made of standard input as well, and the copy is removed', async () => {
    const env = { TMPDIR: mkdtempSync(join(folder, 'tmp-')) }
    const args = ['import', 'chat-completions', '-', '--agent-key', 'k', '--out', out, '--json']
    const { code, stdout, stderr } = await runSvc(args, env, `${run('a')}\nx\n`)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: '(stdin):2 not JSON: expected value, found something else at column 1\n',
    })
    expect(JSON.parse(stdout)).toEqual({
      runs: 1,
      bad_lines: 1,
      bad_documents: 0,
      steps: 3,
      created: 3,
      replayed: 0,
      failed_runs: 0,
      failures: [],
      violations: {},
      would_block: {},
      would_ask: {},
      guessed_tools: [],
      tools_yaml: '',
    })
    expect(steps()).toHaveLength(3)
    expect(readdirSync(env.TMPDIR)).toEqual([])
  })

  it('applies the mapping of tools and lists the tools of unknown meaning', async () => {
    const tool_calls = ['get_x', 'frobnicate', 'zap\u001b[2J'].map((name) => ({ function: { name, arguments: '{}' } }))
    const path = write('tools.jsonl', JSON.stringify({ run_id: 'r', messages: [{ role: 'assistant', tool_calls }] }))
    const map = write('tools.yaml', 'get_x: {step_type: step.credential}\n')
    const { code, stdout } = await importInto(path, '--tools', map)
    expect(code).toBe(0)
    expect(stdout).toContain(
      '\n# the name reveals nothing, so it counts as a write\n"zap\\u001b[2J": { step_type: step.resource, verb: POST }\n',
    )
    expect(steps()[0]?.meta?.agent).toEqual({
      agent_key: 'tools',
      declared_tools: ['frobnicate', 'get_x', 'zap\u001b[2J'],
    })
    expect(steps()[2]).toMatchObject({ step_type: 'step.credential', verb: 'GET', step_name: 'get_x' })
  })
})

describe('bad lines', () => {
  it('are reported with number and reason, and the others are imported', async () => {
    const lines = [
      Buffer.from(`\ufeff${run('first')}\r\n`),
      Buffer.from('{"run_id": \n'),
      Buffer.from('\n   \n'),
      Buffer.from([...Buffer.from(run('x', 'AB')).map((byte) => (byte === 0x41 ? 0xff : byte)), 0x0a]),
      Buffer.from('{"run_id": "no messages"}\n'),
      Buffer.from(`${run('separators', 'one\u2028two\u2029three\u0085four')}\n`),
      Buffer.from(`${run('first', 'again')}\n`),
      Buffer.from('{"run_id": "dup\\u001b", "\\u001b": 1, "\\u001b": 2}\n'),
      Buffer.from(run('last without a line feed')),
    ]
    const path = write('bad.jsonl', Buffer.concat(lines))
    const { code, stdout, stderr } = await importInto(path)
    expect(code).toBe(1)
    expect(stderr.replaceAll(path, 'FILE').split('\n')).toEqual([
      'FILE:2 not JSON: expected value, found the end at column 12',
      'FILE:5 not UTF-8',
      'FILE:6 `messages` is missing',
      'FILE:8 `run_id` is the same as on line 1',
      'FILE:9 duplicate member name `�` at column 38',
      '',
    ])
    expect(stdout).toBe(
      '3 runs, 9 steps: 9 new, 0 already stored, 0 runs failed\n5 lines could not be read (see above)\n',
    )
    expect(steps().filter(({ step }) => step === 1)).toMatchObject([
      { timestamp: '2026-01-01T00:00:00.000Z', meta: { run: { run_id: 'first' } } },
      { timestamp: '2026-01-01T06:00:00.000Z', meta: { run: { run_id: 'separators' } } },
      { timestamp: '2026-01-01T09:00:00.000Z', meta: { run: { run_id: 'last without a line feed' } } },
    ])
    expect(steps()[4]?.output).toEqual({ content: 'one\u2028two\u2029three\u0085four' })
  })

  it('may be longer than one read, up to 64 MiB', async () => {
    const long = run('long', 'é'.repeat(1_000_000))
    const path = write('long.jsonl', `${run('a')}\n${'x'.repeat(64 * 1024 * 1024 + 1)}\n${long}\n`)
    const { code, stderr } = await importInto(path)
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${path}:2 longer than 64 MiB\n` })
    expect(steps()[4]?.output).toEqual({ content: 'é'.repeat(1_000_000) })
  })

  it('leave an empty file when there are no others', async () => {
    const { code, stdout } = await importInto(write('zip.jsonl', gzipSync(run('a'))), '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ runs: 0, steps: 0 })
    expect(steps()).toEqual([])
  })
})

describe('usage', () => {
  const file = write('runs.jsonl', run('a'))
  const to = ['--to', 'http://127.0.0.1:1', '--api-key', 'SvcKey-x']

  it.each([
    ['no destination', [file], 'give one destination'],
    ['two destinations', [file, '--out', out, ...to], 'give one destination'],
    ['no such file', [join(folder, 'none'), '--out', out], 'does not exist'],
    ['over the file itself', [file, '--out', join(folder, '.', 'runs.jsonl')], '`--out` is the imported file'],
    ['a pipe without a name', ['-', '--out', out], 'give `--agent-key`'],
    ['an agent key of other characters', [file, '--out', out, '--agent-key', 'Büro'], 'give one of 1 to 200 printable'],
    ['no key', [file, '--to', 'http://127.0.0.1:1'], 'give `--api-key` or set SVC_API_KEY'],
    ['a key cut from the manual', [file, ...to, '--api-key', 'SvcKey-…'], 'characters that are not allowed in a key'],
    ['not a URL', [file, ...to, '--to', 'http://'], 'write an http or https URL'],
    ['another protocol', [file, ...to, '--to', 'ftp://a.example'], 'write an http or https URL'],
    ['a URL with a password', [file, ...to, '--to', 'http://u:p@a.example'], 'without credentials'],
    ['an invalid time', [file, '--out', out, '--start', '2026-02-30T00:00:00'], 'write an RFC 3339 time'],
    ['a time too late', [file, '--out', out, '--start', '9999-12-31T23:00:00Z'], '`--start` is too late'],
    ['no such mapping', [file, '--out', out, '--tools', join(folder, 'none')], 'which cannot be read'],
    ['no file at all', [], "missing required argument 'file'"],
    ['an unknown option', [file, '--out', out, '--outt', 'x'], "unknown option '--outt'"],
  ])('%s ends with 2', async (_, args, message) => {
    const { code, stdout, stderr } = await runSvc(['import', 'chat-completions', ...args])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toContain('SvcKey')
    expect(readFileSync(file, 'utf8')).toBe(run('a'))
  })

  it('another format ends with 2', async () => {
    const { code, stderr } = await runSvc(['import', 'telepathy', join(folder, 'none'), '--out', out])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'svc import: the format is `telepathy`: write chat-completions, recorder, claude-code, codex, otel or trace\n',
    })
  })

  it('a destination that cannot be written ends with 1', async () => {
    const { code, stderr } = await importInto(file, '--out', join(folder, 'none', 'steps.jsonl'))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^svc import: ENOENT/)
  })

  it('--help has an example and the exit codes', async () => {
    const { code, stdout } = await runSvc(['import', '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/svc import chat-completions runs\.jsonl --out steps\.jsonl/)
    expect(stdout).toMatch(/Exit codes: 0/)
  })

  const maps = parse(readFileSync(new URL('../cases/import/tool-maps.yaml', import.meta.url), 'utf8')) as {
    name: string
    text: string
    message: string
  }[]

  it.each(maps)('a mapping with $name ends with 2', async ({ text, message }) => {
    const map = write('map.yaml', text)
    const { code, stderr } = await importInto(file, '--tools', map)
    expect(code).toBe(2)
    expect(stderr.replaceAll(map, 'MAP')).toContain(message.startsWith(':') ? `MAP${message}` : message)
  })
})

const recorded = sharedData('agent-runs/airline-service.jsonl')

describe.skipIf(recorded === null)('recorded runs', () => {
  it('are 100 tasks and 3,241 steps, none of them guessed', async () => {
    const { code, stdout, stderr } = await importInto(recorded ?? '', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ runs: 100, steps: 3241, bad_lines: 0, guessed_tools: [] })
    const all = steps()
    expect(all).toHaveLength(3241)
    expect(new Set(all.map(({ task_id }) => task_id)).size).toBe(100)
    const types = new Map<string, number>()
    for (const { step_type } of all) types.set(step_type, (types.get(step_type) ?? 0) + 1)
    // Counted in the transcripts themselves: 1,163 messages of the model, 686 of users, 577 calls, 79 of them thinking.
    expect(Object.fromEntries(types)).toMatchObject({
      'task.start': 100,
      'task.end': 100,
      'step.model': 1163,
      'step.self': 79,
      'step.resource': 498,
    })
    const messages = all.filter(({ step_type, verb }) => step_type === 'step.message' && verb === 'GET')
    expect(messages).toHaveLength(686)
    expect(types.has('step.unknown')).toBe(false)
  })
})
