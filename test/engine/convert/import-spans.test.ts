// Spans as steps: what each operation becomes, and readings of all forms of OTLP JSON. Random input never throws.
import { readFileSync } from 'node:fs'
import { createChecker } from '@svc/engine/parts'
import { parseStrictJson } from '@svc/proof'
import { type Behavior, documents } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { formatOf } from '../../../cli/import/reading/formats.js'
import { agentKeyOf, claimOf, strongerClaim } from '../../../engine/convert/otel/agent.js'
import { toolsOfSpan } from '../../../engine/convert/otel/facts.js'
import { operationOf } from '../../../engine/convert/otel/operation.js'
import { readOtlp, readOtlpText } from '../../../engine/convert/otel/otlp.js'
import type { Span } from '../../../engine/convert/otel/span.js'
import { stepsOfSpans } from '../../../engine/convert/otel/steps-of-spans.js'
import type { ToolMap } from '../../../engine/convert/tools.js'
import { otlpRequest, otlpSpan, type ShortSpan, spansBegin } from '../../support/spans/otlp.js'

interface SpansCase {
  readonly name: string
  readonly spans: readonly ShortSpan[]
  readonly tools?: ToolMap
  readonly start?: Partial<Behavior>
  readonly steps?: readonly Partial<Behavior>[]
  /** The types and verbs of the steps. */
  readonly types?: readonly string[]
  readonly ends?: boolean
  /** Seconds of all steps. */
  readonly times?: readonly number[]
}

const cases = ['spans', 'conventions'].flatMap(
  (name) => parse(readFileSync(new URL(`../../cases/import/${name}.yaml`, import.meta.url), 'utf8')) as SpansCase[],
)

function spansIn(value: unknown): Span[] {
  return (readOtlp(value) ?? []).flatMap((reading) => (reading.problem === null ? [reading.span] : []))
}

function convert(spans: readonly Span[], tools: ToolMap = {}): Behavior[] {
  const acts = spans.filter((span) => operationOf(span) !== null)
  const claim = acts.map(claimOf).reduce(strongerClaim)
  const declared_tools = [...new Set(spans.flatMap(toolsOfSpan))].sort()
  const agent_key = agentKeyOf(claim) ?? 'desk'
  return stepsOfSpans(spans, { task_id: 't', agent_key, agent: claim.name, tools, declared_tools })
}

function summaryOf({ agent_id, task_id, step, timestamp, meta, ...body }: Behavior): Partial<Behavior> {
  return body
}

const check = createChecker(Object.values(documents))('behavior.json')

describe('spans', () => {
  it.each(cases)('$name', ({ spans, tools, start, steps, types, ends = true, times }) => {
    const given = spans.map((span) => otlpSpan(span))
    const all = convert(spansIn(otlpRequest(given)), tools)
    const [first, ...others] = all
    expect(first).toMatchObject({ step_type: 'task.start', step: 1, ...start })
    expect(others.at(-1)?.step_type === 'task.end').toBe(ends)
    const acts = ends ? others.slice(0, -1) : others
    if (steps !== undefined) expect(acts.map(summaryOf)).toEqual(steps)
    if (types !== undefined) expect(acts.map(({ step_type, verb }) => `${step_type} ${verb}`)).toEqual(types)
    if (times !== undefined)
      expect(all.map(({ timestamp = '' }) => (Date.parse(timestamp) - spansBegin) / 1000)).toEqual(times)
    expect(all.map(({ step }) => step)).toEqual(all.map((_, index) => index + 1))
    expect(all.flatMap((step) => check(step))).toEqual([])
    // The order in the file changes nothing.
    expect(convert(spansIn(otlpRequest(given.toReversed())), tools)).toEqual(all)
  })

  it('keep ids, names and all attributes that are in no other member', () => {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.result': 'x', 'my.note': 'kept' }
    const [, step] = convert(spansIn([otlpSpan(['b', 'a', 'execute_tool get_x', 1, 2, attributes])]))
    expect(step?.meta).toEqual({
      otel: {
        trace_id: '00000000000000000000000000000031',
        span_id: '0000000000000062',
        parent_span_id: '0000000000000061',
        name: 'execute_tool get_x',
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'my.note': 'kept' },
      },
    })
  })

  it('may be ten thousand, each the parent of the next', () => {
    const chain = Array.from({ length: 10_000 }, (_, index) =>
      otlpSpan([
        `s${index}`,
        index === 0 ? null : `s${index - 1}`,
        'chat m',
        index,
        index + 1,
        { 'gen_ai.operation.name': 'chat' },
      ]),
    )
    expect(convert(spansIn(otlpRequest(chain)))).toHaveLength(10_002)
  })
})

describe('OTLP JSON', () => {
  const span = otlpSpan(['a', null, 'chat m', 1, 2, { 'gen_ai.operation.name': 'chat' }])
  const [expected] = spansIn([span])

  it.each([
    ['a request', otlpRequest([span])],
    ['a list of requests', [otlpRequest([]), otlpRequest([span])]],
    ['a list of spans', [span]],
    ['a span', span],
    ['the older name of a list', { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: [span] }] }] }],
    [
      'ids in base64',
      [
        {
          ...span,
          traceId: Buffer.from(String(span.traceId), 'hex').toString('base64'),
          spanId: Buffer.from(String(span.spanId), 'hex').toString('base64'),
        },
      ],
    ],
    ['ids in upper case', [{ ...span, traceId: String(span.traceId).toUpperCase() }]],
    ['an empty parent', [{ ...span, parentSpanId: '' }]],
    ['a parent of zeros', [{ ...span, parentSpanId: '0000000000000000' }]],
  ])('may be %s', (_, value) => {
    expect(spansIn(value).map((each) => ({ ...each, resource: null }))).toEqual([{ ...expected, resource: null }])
    expect(formatOf(value)).toBe('otel')
  })

  it('may have its nanoseconds as numbers, which are read exactly', () => {
    const text = JSON.stringify([span]).replaceAll(/TimeUnixNano":"(\d+)\d{3}"/g, 'TimeUnixNano":$1123')
    const reading = readOtlpText(text)
    expect(reading.problem === null && spansIn(reading.value)[0]?.start).toBe(1767603601000000123n)
  })

  it.each([
    ['no traceId', { traceId: undefined }, '`traceId` is missing'],
    ['a short traceId', { traceId: 'abc' }, '`traceId` is `abc`: expected 32 hexadecimal digits, not all 0'],
    ['a traceId of zeros', { traceId: '0'.repeat(32) }, '`traceId` is `00000'],
    ['a spanId of another type', { spanId: 7 }, '`spanId` is `7`: expected 16 hexadecimal digits, not all 0'],
    ['no start', { startTimeUnixNano: '0' }, '`startTimeUnixNano` is `0`: expected nanoseconds since 1970'],
    ['a negative start', { startTimeUnixNano: '-5' }, '`startTimeUnixNano` is `-5`: expected'],
    ['an end that is text', { endTimeUnixNano: '2026-01-01' }, '`endTimeUnixNano` is `2026-01-01`: expected'],
    ['an end after the year 9999', { endTimeUnixNano: '9'.repeat(21) }, '`endTimeUnixNano` is `99999'],
  ])('with %s is a fault', (_, change, message) => {
    const [reading] = readOtlp(otlpRequest([{ ...span, ...change }])) ?? []
    expect(reading?.problem).toContain(message)
  })

  it('has values of all types', () => {
    const attributes = [
      {
        key: 'list',
        value: { arrayValue: { values: [{ intValue: '5' }, { intValue: 6 }, { doubleValue: 0.5 }, {}] } },
      },
      { key: 'map', value: { kvlistValue: { values: [{ key: '__proto__', value: { boolValue: false } }] } } },
      { key: 'large', value: { intValue: '9007199254740993' } },
      { key: 'bytes', value: { bytesValue: 'AAE=' } },
      { key: 7 },
      null,
    ]
    const [read] = spansIn([{ ...span, attributes }])
    expect(JSON.stringify([...(read?.attributes ?? [])])).toBe(
      '[["list",[5,6,0.5,null]],["map",{"__proto__":false}],["large","9007199254740993"],["bytes","AAE="]]',
    )
  })
})

describe('random input', () => {
  const words = [
    'gen_ai.operation.name',
    'chat',
    'execute_tool',
    'invoke_agent',
    'gen_ai.input.messages',
    'gen_ai.output.messages',
    'gen_ai.tool.call.arguments',
    'gen_ai.prompt',
    'content',
    'role',
    'user',
    'parts',
    'type',
    'text',
    'tool_call',
    '__proto__',
  ]
  const leaf = fc.oneof(fc.constantFrom(...words), fc.string(), fc.double(), fc.constant(null), fc.boolean())
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...words), fc.string()), tie('value'), { maxKeys: 4 }),
    ),
  }))
  const any = fc.oneof(
    value,
    value.map((each) => ({ stringValue: JSON.stringify(each) })),
  )
  const entry = fc.record({
    key: fc.constantFrom(...words),
    value: fc.oneof(
      any,
      fc.constantFrom('chat', 'execute_tool', 'invoke_agent').map((stringValue) => ({ stringValue })),
    ),
  })
  const id = fc.constantFrom('a', 'b', 'c', 'd').map((letter) => letter.repeat(16))
  const span = fc.record(
    {
      traceId: fc.constant('e'.repeat(32)),
      spanId: id,
      parentSpanId: fc.oneof(id, value),
      name: value,
      startTimeUnixNano: fc.oneof(fc.constantFrom('1', '2', 3), value),
      endTimeUnixNano: fc.oneof(fc.constantFrom('1', '2', 3), value),
      attributes: fc.oneof(fc.array(entry), value),
      events: fc.oneof(
        fc.array(
          fc.record({ name: fc.constantFrom('gen_ai.choice', 'gen_ai.user.message'), attributes: fc.array(entry) }),
        ),
        value,
      ),
      status: value,
    },
    { requiredKeys: ['traceId', 'spanId', 'startTimeUnixNano'] },
  )

  it('never throws, and gives steps that are valid', () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 6 }), (given) => {
        const spans = spansIn(otlpRequest(given))
        const known = [...new Map(spans.map((each) => [each.span_id, each])).values()]
        if (!known.some((each) => operationOf(each) !== null)) return
        const steps = convert(known)
        expect(steps.flatMap((step) => check(step)).filter(({ path }) => path[0] !== 'step_name')).toEqual([])
        for (const step of steps) expect(parseStrictJson(JSON.stringify(step))).toBeDefined()
      }),
    )
  })

  it('never throws where spans are expected', () => {
    fc.assert(
      fc.property(value, (given) => {
        readOtlp(given)
        readOtlp({ resourceSpans: [given] })
        readOtlp({ resourceSpans: given })
        readOtlp(otlpRequest([given]))
        formatOf(given)
        readOtlpText(JSON.stringify(given) ?? '')
      }),
    )
  })
})
