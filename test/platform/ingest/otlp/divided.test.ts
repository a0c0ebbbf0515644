// Large requests in JSON are read span by span: the result is that of a reading as a whole.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { divideJson } from '../../../../platform/ingest/otlp/divided-json.js'
import { createPace } from '../../../../platform/ingest/pace.js'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { otlpAttributes, otlpRequest, otlpSpan } from '../../../support/spans/otlp.js'
import { stepsOf } from '../../../support/spans/span-steps.js'

const divide = (text: string) => divideJson(createPace(), Buffer.from(text))
const put = (value: unknown, spans: readonly unknown[], at: readonly string[] = []): unknown => {
  if (typeof value === 'number' && at.at(-1) === 'spans') return spans[value]
  if (Array.isArray(value)) return value.map((each) => put(each, spans, at))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, put(each, spans, [...at, key])]))
}

describe('a divided request', () => {
  it('is its envelope with its spans', async () => {
    const odd = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', 'spans', 'é', '\n') })
    const span = fc.dictionary(odd, fc.oneof(odd, fc.jsonValue({ maxDepth: 2 })), { maxKeys: 4 })
    const scopes = fc.array(fc.record({ scope: fc.jsonValue({ maxDepth: 1 }), spans: fc.array(span) }))
    const groups = fc.array(fc.record({ resource: fc.dictionary(odd, odd), scopeSpans: scopes }))
    await fc.assert(
      fc.asyncProperty(groups, fc.boolean(), fc.boolean(), async (resourceSpans, is_list, is_wide) => {
        const request = is_list ? [{ resourceSpans }] : { resourceSpans }
        const divided = await divide(JSON.stringify(request, null, is_wide ? 2 : 0))
        const spans = divided?.spans.map((text) => JSON.parse(text.toString())) ?? []
        expect(put(JSON.parse(divided?.envelope.toString() ?? ''), spans)).toEqual(JSON.parse(JSON.stringify(request)))
        expect(spans).toHaveLength(
          resourceSpans.flatMap((group) => group.scopeSpans.flatMap((one) => one.spans)).length,
        )
      }),
    )
  })

  it.each(['{"resourceSpans": [', '{"a": "b', ']', '{"resourceSpans":[{"scopeSpans":[{"spans":[{"a":1]}]}]}'])(
    'is null for %s',
    async (text) => expect(await divide(text)).toBeNull(),
  )
})

describe('a large request', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform()
  })
  afterAll(() => discard(platform))

  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_order' }
  const spanOf = (trace: string, more = {}) => otlpSpan(['t', 'r', 'execute_tool', 1, 2, { ...tool, ...more }], trace)
  const large = spanOf('large', { 'gen_ai.tool.call.result': 'x'.repeat(300_000) })
  const send = (raw: string) => platform.call('POST', '/v1/traces', { as: 'key', raw })

  it('has a reason for each span that cannot be read', async () => {
    const twice = { ...spanOf('twice'), attributes: otlpAttributes(tool) }
    const text = JSON.stringify(otlpRequest([large, twice, 0, spanOf('last')]))
    const { status, body } = await send(text.replace('"spanId"', '"spanId": "1", "spanId"'))
    const errorMessage = expect.stringMatching(
      /^2 of 4 spans were rejected: duplicate member name.*; is not an object$/s,
    )
    expect([status, body]).toEqual([200, { partialSuccess: { rejectedSpans: '2', errorMessage } }])
    expect(await stepsOf(platform, String(spanOf('last').traceId))).toHaveLength(2)
  })

  it.each([
    ['is open', JSON.stringify(otlpRequest([large])).slice(0, -2), 400],
    ['has another form', JSON.stringify({ spans: [large] }), 400],
    ['has more beside its spans than allowed', JSON.stringify({ a: 'x'.repeat(2_000_000), ...otlpRequest([]) }), 413],
  ])('is rejected when it %s', async (_, text, status) => expect(await send(text)).toMatchObject({ status }))
})
