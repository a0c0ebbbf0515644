// `svc import otel`: tasks whose spans are anywhere in the files, their agents, and what is left out.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createChecker } from '@svc/engine/parts'
import { type Behavior, documents, type JsonMap } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { otlpRequest, otlpSpan, type ShortSpan } from '../support/spans/otlp.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(folder, 'spans-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

async function importOtel(path: string, ...args: string[]) {
  const out = join(folder, 'steps.jsonl')
  rmSync(out, { force: true })
  const { code, stdout, stderr } = await runSvc(['import', 'otel', path, '--out', out, '--json', ...args])
  if (code === 2) return { code, stderr, report: {}, steps: [] }
  const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1)
  const steps = lines.map((line) => JSON.parse(line) as Behavior)
  return { code, stderr: stderr.replaceAll(path, 'FILE'), report: JSON.parse(stdout) as JsonMap, steps }
}

const chat = (model: string): JsonMap => ({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model })
const agent = (name: string): JsonMap => ({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name })
const line = (trace: string, ...spans: ShortSpan[]) =>
  JSON.stringify(otlpRequest(spans.map((span) => otlpSpan(span, trace))))
const check = createChecker(Object.values(documents))('behavior.json')
const named = (steps: readonly Behavior[]) =>
  steps.map(({ task_id = '', step, step_type, step_name = '' }) =>
    `${task_id.slice(-2)} ${step} ${step_type} ${step_name}`.trim(),
  )

describe('tasks', () => {
  const first = line('1', ['c', 'a', 'chat z', 5, 6, chat('z')])
  const second = line('2', ['a', null, 'invoke_agent two', 0, 1, agent('two')])
  const third = line('1', ['b', 'a', 'chat y', 2, 3, chat('y')], ['x', 'b', 'GET', 2, 3])
  const fourth = line('1', ['a', null, 'invoke_agent one', 0, 9, agent('one')])

  it('are complete although their spans are on several lines, in any order', async () => {
    const path = write({ 'spans.jsonl': [first, second, third, fourth].join('\n') })
    const { code, stderr, report, steps } = await importOtel(join(path, 'spans.jsonl'))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(report).toMatchObject({
      runs: 2,
      steps: 6,
      bad_spans: 0,
      unmapped: 1,
      unmapped_spans: { GET: 1 },
      repeated_spans: 0,
    })
    expect(named(steps)).toEqual([
      '32 1 task.start',
      '32 2 task.end',
      '31 1 task.start',
      '31 2 step.model y',
      '31 3 step.model z',
      '31 4 task.end',
    ])
    expect(steps.flatMap((step) => check(step))).toEqual([])
    expect(steps.map(({ agent_id }) => agent_id)).toEqual(['two', 'two', 'one', 'one', 'one', 'one'])
  })

  it('may be spread over the files of a folder', async () => {
    const path = write({
      'a.json': first,
      'b/c.jsonl': `${third}\n${second}\n`,
      'd.json': JSON.stringify(JSON.parse(fourth), null, 2),
    })
    const { steps } = await importOtel(path)
    expect(steps.filter(({ agent_id }) => agent_id === 'one').map(({ step }) => step)).toEqual([1, 2, 3, 4])
    expect(steps).toHaveLength(6)
  })

  it('are conversations with --task-by conversation', async () => {
    const of = (name: string) => ({ ...chat(name), 'gen_ai.conversation.id': 'talk 1' })
    const path = write({
      'a.jsonl': [
        line('2', ['b', null, 'chat', 5, 6, of('later')]),
        line('1', ['a', null, 'chat', 1, 2, of('first')]),
        first,
      ].join('\n'),
    })
    const { steps } = await importOtel(join(path, 'a.jsonl'), '--task-by', 'conversation')
    expect(named(steps.filter(({ task_id }) => task_id === 'talk 1'))).toEqual(
      [' 1 1 task.start', ' 1 2 step.model first', ' 1 3 step.model later', ' 1 4 step.model z', ' 1 5 task.end'].map(
        (text) => text.trim(),
      ),
    )
  })

  it('have the agent of their spans, of their service, of the file or of the option', async () => {
    const spans = (resource: JsonMap) =>
      JSON.stringify(otlpRequest([otlpSpan(['a', null, 'chat', 1, 2, chat('m')])], resource))
    const keyOf = async (text: string, ...args: string[]) =>
      (await importOtel(join(write({ 'desk.jsonl': text }), 'desk.jsonl'), ...args)).steps[0]?.agent_id
    expect(await keyOf(fourth)).toBe('one')
    expect(await keyOf(spans({ 'service.name': 'shop' }))).toBe('shop')
    expect(await keyOf(spans({ 'service.name': 'unknown_service:node' }))).toBe('desk')
    expect(await keyOf(spans({ 'service.name': 'Büro' }))).toBe('desk')
    expect(await keyOf(fourth, '--agent-key', 'mine')).toBe('mine')
  })

  it('declare the tools of their agent, and a guess is listed', async () => {
    const tool = (id: string, name: string): ShortSpan => [
      id,
      null,
      `execute_tool ${name}`,
      1,
      2,
      { 'gen_ai.operation.name': 'execute_tool' },
    ]
    const path = write({ 'a.jsonl': [line('1', tool('a', 'get_x')), line('2', tool('b', 'frobnicate'))].join('\n') })
    const { steps, report } = await importOtel(join(path, 'a.jsonl'))
    expect(steps[0]?.meta?.agent).toEqual({ agent_key: 'shop', declared_tools: ['frobnicate', 'get_x'] })
    expect(report.guessed_tools).toMatchObject([{ tool: 'frobnicate' }])
  })
})

describe('spans that are not imported', () => {
  it('are faults with file, line and number; the others are imported', async () => {
    const good = otlpSpan(['a', null, 'chat', 1, 2, chat('m')])
    const again = { ...good, name: 'changed' }
    const lines = [
      otlpRequest([{ ...good, traceId: undefined }, good]),
      otlpRequest([good, again, { ...otlpSpan(['b', null, 'chat', 1, 2, chat('m')]), startTimeUnixNano: 'soon' }]),
      { resourceSpans: [5, { scopeSpans: [5] }] },
    ]
    const path = write({
      'a.jsonl': [...lines.map((each) => JSON.stringify(each)), '{"resourceSpans": ', '{"a": 1}'].join('\n'),
    })
    const { code, stderr, report, steps } = await importOtel(join(path, 'a.jsonl'))
    expect(stderr.replaceAll('FILE/a.jsonl', 'FILE').split('\n')).toEqual([
      'FILE:1 span 1: `traceId` is missing',
      'FILE:2 span 3: `startTimeUnixNano` is `soon`: expected nanoseconds since 1970',
      'FILE:3 span 1: is not in an object of `resourceSpans`',
      'FILE:3 span 2: is not in `spans` of `scopeSpans`',
      'FILE:4 not JSON: expected value, found the end at column 19',
      'FILE:5 is not OTLP JSON: `resourceSpans` is missing',
      'FILE:2 span 2: `spanId` is `0000000000000061`, which another span of the trace has',
      '',
    ])
    expect(code).toBe(1)
    expect(report).toMatchObject({ runs: 1, bad_lines: 2, bad_spans: 5, repeated_spans: 1 })
    expect(named(steps)).toEqual(['31 1 task.start', '31 2 step.model m', '31 3 task.end'])
  })

  it('are counted by name in the text of the report', async () => {
    const others = Array.from(
      { length: 12 },
      (_, index): ShortSpan => [`x${index}`, 'a', `GET ${index}\u001b[2J`, 1, 2],
    )
    const db: ShortSpan[] = [
      ['y', 'a', 'SELECT', 1, 2],
      ['z', 'a', 'SELECT', 1, 2],
    ]
    const path = join(
      write({ 'a.jsonl': line('1', ['a', null, 'chat', 1, 2, chat('m')], ...others, ...db) }),
      'a.jsonl',
    )
    const { stdout } = await runSvc(['import', 'otel', path, '--out', join(folder, 'out.jsonl')])
    const [, text = ''] = stdout.split('\n')
    expect(text).toMatch(/^14 spans were not mapped: SELECT \(2\), GET 0�\[2J \(1\), .*, others \(3\)$/)
  })

  it('leave nothing when no span is an act of an agent', async () => {
    const { code, report, steps } = await importOtel(
      join(write({ 'a.jsonl': line('1', ['a', null, 'GET', 1, 2]) }), 'a.jsonl'),
    )
    expect({ code, steps }).toEqual({ code: 0, steps: [] })
    expect(report).toMatchObject({ runs: 0, unmapped_spans: { GET: 1 } })
  })

  it('may have long attributes, which are kept', async () => {
    const text = 'é'.repeat(1_000_000)
    const path = write({
      'a.jsonl': line('1', [
        'a',
        null,
        'execute_tool get_x',
        1,
        2,
        { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.result': text },
      ]),
    })
    const { steps } = await importOtel(join(path, 'a.jsonl'))
    expect(steps[1]?.output?.content).toBe(text)
  })
})

describe('usage', () => {
  it.each([
    ['otel', ['--start', '2026-02-01T00:00:00Z'], '`--start` does not apply to otel'],
    ['trace', ['--start', '2026-02-01T00:00:00Z'], '`--start` does not apply to trace'],
    ['trace', ['--tools', 'x.yaml'], '`--tools` does not apply to trace'],
    ['recorder', ['--task-by', 'trace'], '`--task-by` applies to otel only'],
    ['otel', ['--task-by', 'run'], '`--task-by` is `run`: write trace or conversation'],
  ])('%s with %j ends with 2', async (format, args, message) => {
    const path = write({ 'a.jsonl': '' })
    const { code, stdout, stderr } = await runSvc([
      'import',
      format,
      path,
      '--out',
      join(folder, 'none.jsonl'),
      ...args,
    ])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
