// Spans of hostile or careless senders: whatever one of them holds, the others of its request are stored.
import type { JsonMap } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { otlpAttributes, otlpRequest, otlpSpan } from '../../../support/spans/otlp.js'
import { fromProtobuf, protobufType, toDeepProtobuf, toProtobuf } from '../../../support/spans/otlp-protobuf.js'
import { detailsOf, isValid, stepsOf } from '../../../support/spans/span-steps.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_order' }
let traces = 0
const spanWith = (attributes: readonly unknown[], others: JsonMap = {}) => {
  const span = otlpSpan(['t', 'r', 'execute_tool get_order', 1, 2, tool], `h${traces++}`)
  return { ...span, ...others, attributes: [...otlpAttributes(tool), ...attributes] }
}
const text = (key: string, stringValue: unknown) => ({ key, value: { stringValue } })
const result = (value: unknown) => ({ key: 'gen_ai.tool.call.result', value })
/** Lists in lists, with text in the last. */
const nested = (levels: number) => {
  let value: JsonMap = { stringValue: 'deep' }
  for (let level = 0; level < levels; level++) value = { arrayValue: { values: [value] } }
  return value
}
const inJson = (body: unknown) => platform.call('POST', '/v1/traces', { as: 'key', body })
const inProtobuf = (request: object) => postBytes(toProtobuf(request))
const postBytes = async (bytes: Uint8Array) => {
  const answer = await fetch(`${platform.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.api_key}`, ...protobufType },
    body: bytes as unknown as string,
  })
  return { status: answer.status, body: fromProtobuf('Response', new Uint8Array(await answer.arrayBuffer())) }
}

type Rejected = readonly [string, readonly unknown[], string]
const rejected: readonly Rejected[] = [
  ['a tool with a name of 1,001 characters', [text('gen_ai.tool.name', 'n'.repeat(1001))], 'step_name'],
  ['a text of 9 MiB', [result({ stringValue: 'x'.repeat(9 * 1024 * 1024) })], 'larger than 8 MiB'],
]

const stepNames = {
  'Execute_Tool ': { 'gen_ai.operation.name': 'Execute_Tool ', 'gen_ai.tool.name': 'shell' },
  'an unknown operation': { 'gen_ai.operation.name': 'tool_call', 'gen_ai.tool.name': 'shell' },
  'an unknown kind': { 'traceloop.span.kind': 'workflow', 'gen_ai.tool.name': 'shell' },
  Tool: { 'openinference.span.kind': 'Tool', 'tool.name': 'shell' },
}

const values: readonly (readonly [string, readonly unknown[], JsonMap?])[] = [
  ['the character NUL', [text('a\0b', 'c\0d'), result({ stringValue: '\0' })], { name: 'na\0me' }],
  ['half a character', [text('\ud800', '\udc00x'), result({ stringValue: 'cut \ud83d' })]],
  [
    'names of prototypes',
    [
      text('__proto__', 'x'),
      text('constructor', 'y'),
      { key: 'k', value: { kvlistValue: { values: [text('__proto__', 'z')] } } },
    ],
  ],
  ['one name twice', [text('a', '1'), text('a', '2')]],
  ['no values', [{ key: 'a' }, { key: 'b', value: {} }, {}]],
  ['100,000 attributes', Array.from({ length: 100_000 }, (_, index) => text(`a${index}`, 'x'))],
  ['a text of 4 MiB', [result({ stringValue: 'x'.repeat(4 * 1024 * 1024) })]],
  [
    'the number NaN',
    [
      { key: 'a', value: { doubleValue: Number.NaN } },
      { key: 'b', value: { doubleValue: -0 } },
    ],
  ],
  [
    'large integers',
    [
      { key: 'a', value: { intValue: '9223372036854775807' } },
      { key: 'b', value: { intValue: '-1' } },
    ],
  ],
  ['bytes', [{ key: 'a', value: { bytesValue: Buffer.from('x').toString('base64') } }]],
  ['a tool with a name of 1,000 characters', [text('gen_ai.tool.name', 'n'.repeat(1000))]],
  ['an end before its start', [], { endTimeUnixNano: '1' }],
  ['invalid JSON as text', [text('gen_ai.tool.call.arguments', '{"a": 1,'), result({ stringValue: '[[[' })]],
]

describe('a span', () => {
  it.each(values.map(([what, attributes, others]) => ({ what, attributes, others })))(
    'may have $what',
    async ({ attributes, others }) => {
      for (const send of [inJson, inProtobuf]) {
        const [odd, plain] = [spanWith(attributes, others), spanWith([])]
        const { status, body } = await send(otlpRequest([odd, plain]))
        expect([status, body]).toEqual([200, {}])
        for (const { traceId } of [odd, plain] as { traceId?: string }[]) {
          expect(await stepsOf(platform, String(traceId))).toHaveLength(2)
          expect(await isValid(platform, String(traceId))).toBe(true)
        }
      }
    },
  )

  it.each(rejected.map(([what, attributes, reason]) => ({ what, attributes, reason })))(
    'is rejected alone for $what',
    async ({ attributes, reason }) => {
      const [odd, plain] = [spanWith(attributes), spanWith([])]
      const { body } = await inJson(otlpRequest([odd, plain]))
      expect(body).toMatchObject({
        partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining(reason) },
      })
      expect(await stepsOf(platform, String((plain as JsonMap).traceId))).toHaveLength(2)
    },
  )

  it('may be nested 300 deep', async () => {
    const [one, other] = [spanWith([result(nested(300))]), spanWith([])]
    const sent = [await inJson(otlpRequest([one])), await postBytes(toDeepProtobuf(other, 300))]
    expect(sent.map(({ status, body }) => [status, body])).toEqual([
      [200, {}],
      [200, {}],
    ])
    for (const { traceId } of [one, other] as JsonMap[]) expect(await isValid(platform, String(traceId))).toBe(true)
  })

  it('that is nested too deeply in protobuf is rejected alone', async () => {
    const [odd, plain] = [spanWith([]), spanWith([])]
    const { status, body } = await postBytes(
      Buffer.concat([toDeepProtobuf(odd, 10_000), toProtobuf(otlpRequest([plain]))]),
    )
    const errorMessage = '1 of 2 spans was rejected: values are nested more than 1000 levels deep'
    expect([status, body]).toEqual([200, { partialSuccess: { rejectedSpans: 1, errorMessage } }])
    expect(await stepsOf(platform, String((plain as JsonMap).traceId))).toHaveLength(2)
  })

  it('may have bytes in its texts that are not UTF-8', async () => {
    const span = spanWith([result({ stringValue: 'ABCDEFGH' })])
    const raw = Buffer.from(toProtobuf(otlpRequest([span])))
    raw.write('\xff\xfe\x80', raw.indexOf('ABCDEFGH'), 'latin1')
    const headers = { authorization: `Bearer ${platform.api_key}`, ...protobufType }
    const { status } = await fetch(`${platform.url}/v1/traces`, { method: 'POST', headers, body: raw })
    const [, step] = await detailsOf(platform, String((span as JsonMap).traceId))
    expect([status, step?.output]).toEqual([200, { content: '\ufffd\ufffd\ufffdDEFGH' }])
  })

  it('cannot make a conversation of messages that would fill the memory', async () => {
    const messages = `[${'1,'.repeat(1_000_000)}1]`
    const model = [text('gen_ai.operation.name', 'chat'), text('gen_ai.input.messages', messages)]
    const span = { ...spanWith([]), attributes: model }
    expect(await inJson(otlpRequest([span]))).toMatchObject({ status: 200, body: {} })
    expect(await stepsOf(platform, String((span as JsonMap).traceId))).toEqual(['task.start', 'step.model POST model'])
  })

  it.each(Object.entries(stepNames))('is a call of a tool under %s', async (_, attributes) => {
    const span = { ...spanWith([]), attributes: otlpAttributes(attributes) }
    expect(await inJson(otlpRequest([span]))).toMatchObject({ status: 200, body: {} })
    expect(await stepsOf(platform, String((span as JsonMap).traceId))).toContain('step.exec shell')
  })

  it.each([
    ['a verb in lower case', { 'svc.step.verb': 'post' }, {}],
    ['an unknown verb', { 'svc.step.verb': 'send' }, 'verb'],
    ['properties that are a list', { 'svc.step.properties': '[1]' }, 'properties'],
    ['properties with one name twice', { 'svc.step.properties': '{"a": 1, "a": 2}' }, 'properties'],
  ])('of a local engine may not lose what policies read: %s', async (_, attributes, wrong) => {
    const own = { 'svc.step.type': 'step.resource', 'svc.step.name': 'pay', ...attributes }
    const span = { ...spanWith([]), attributes: otlpAttributes(own) }
    const { body } = await inJson(otlpRequest([span]))
    const errorMessage = expect.stringContaining(String(wrong))
    expect(body).toMatchObject(typeof wrong === 'string' ? { partialSuccess: { errorMessage } } : {})
    const steps = await stepsOf(platform, String((span as JsonMap).traceId))
    expect(steps).toEqual(typeof wrong === 'string' ? [] : ['step.resource POST pay'])
  })

  it('with the id of an earlier one is reported, unless it is the same', async () => {
    const span = spanWith([]) as JsonMap
    const other = { ...span, attributes: otlpAttributes({ ...tool, 'gen_ai.tool.name': 'shell' }) }
    const sent = [span, span, other].map((each) => otlpRequest([each]))
    const answers: unknown[] = []
    for (const request of sent) answers.push((await inJson(request)).body)
    const errorMessage = expect.stringContaining('and other content')
    expect(answers).toEqual([{}, {}, { partialSuccess: { rejectedSpans: '1', errorMessage } }])
  })

  it.each([
    ['a name', (text: string) => otlpRequest([{ ...spanWith([]), name: text, attributes: [] }]), `g${'-'.repeat(5e6)}`],
    ['a number', (text: string) => `{"a": ${text}}`, '1'.repeat(15e6)],
  ])('cannot hold up the others with %s', async (_, requestOf, text) => {
    const request = requestOf(text)
    const raw = typeof request === 'string' ? request : JSON.stringify(request)
    const { status } = await platform.call('POST', '/v1/traces', { as: 'key', raw })
    expect([200, 400, 413]).toContain(status)
  })

  it('cannot register more than 100 agents with others of its request', async () => {
    const spans = Array.from({ length: 102 }, () => spanWith([]))
    const requests = spans.map((span, index) => otlpRequest([span], { 'service.name': `crowd-${index}` }))
    const resourceSpans = requests.flatMap((request) => request.resourceSpans)
    expect((await inJson({ resourceSpans })).body).toMatchObject({ partialSuccess: { rejectedSpans: '2' } })
  })
})
