// OTLP over HTTP: formats, compression, credentials, limits, and answers that exporters understand.
import { gzipSync } from 'node:zlib'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Agent, AgentList, MadeApiKey, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallOptions, discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { agentLoop } from '../../../support/spans/otel-agent.js'
import { otlpRequest, otlpSpan } from '../../../support/spans/otlp.js'
import { fromProtobuf, protobufType, toProtobuf } from '../../../support/spans/otlp-protobuf.js'
import { loopSteps, stepsOf } from '../../../support/spans/span-steps.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_order' }
let traces = 0
const newTrace = () => {
  const [span] = [otlpSpan(['t', null, 'execute_tool get_order', 1, 2, tool], `p${traces++}`)]
  return span
}
const requestOf = (...spans: unknown[]) => otlpRequest(spans)

const post = (options: CallOptions) => platform.call<Problem>('POST', '/v1/traces', { as: 'key', ...options })
const postBytes = async (raw: Uint8Array, headers: Record<string, string> = protobufType, key = platform.api_key) => {
  const response = await fetch(`${platform.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: raw as unknown as string,
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, bytes }
}

describe('a request', () => {
  it('is answered in its own format', async () => {
    const json = await post({ body: requestOf(newTrace()) })
    expect([json.status, json.body, json.headers.get('content-type')]).toEqual([
      200,
      {},
      'application/json; charset=utf-8',
    ])
    const binary = await postBytes(toProtobuf(requestOf(newTrace())))
    expect([binary.status, binary.type, binary.bytes.length]).toEqual([200, 'application/x-protobuf', 0])
  })

  it.each([
    ['an empty object', '{}'],
    ['no groups', '{"resourceSpans": []}'],
    ['null', '{"resourceSpans": null}'],
    ['a scope without spans', '{"resourceSpans": [{"scopeSpans": [{}]}]}'],
  ])('may have no spans: %s', async (_, raw) => expect(await post({ raw })).toMatchObject({ status: 200, body: {} }))

  it('may have no bytes as protobuf, and not as JSON', async () => {
    expect(await postBytes(new Uint8Array(0))).toMatchObject({ status: 200 })
    expect(await post({ raw: '' })).toMatchObject({ status: 400, body: { code: 'MALFORMED' } })
  })

  it.each([
    ['text', 'text/plain', '{}', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['broken JSON', 'application/json', '{"resourceSpans": [', 400, 'MALFORMED'],
    ['bytes that are not UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0x22]), 400, 'MALFORMED'],
    ['logs', 'application/json', '{"resourceLogs": []}', 400, 'MALFORMED'],
    ['a text', 'application/json', '"spans"', 400, 'MALFORMED'],
    ['values nested 10,000 deep', 'application/json', '['.repeat(10_000), 400, 'MALFORMED'],
    ['more than a million lists', 'application/json', '['.repeat(1_000_001), 413, 'TOO_LARGE'],
    ['more than 20 MiB', 'application/json', ' '.repeat(20 * 1024 * 1024 + 1), 413, 'TOO_LARGE'],
  ])('of %s is rejected', async (_, type, raw, status, code) => {
    const { body, ...answer } = await post({ raw, headers: { 'content-type': type } })
    expect([answer.status, body.code]).toEqual([status, code])
  })

  it.each([
    ['garbage', Buffer.from('garbage!!'), {}, 400, 3],
    ['a length past the end', Buffer.from([0x0a, 0x7f, 0x01]), {}, 400, 3],
    ['nested groups', Buffer.alloc(20_000, 0x0b), {}, 400, 3],
    ['more than a million empty messages', Buffer.alloc(2_000_002, Buffer.from([0x0a, 0x00])), {}, 413, 8],
    ['a bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024)), { 'content-encoding': 'gzip' }, 413, 8],
    ['broken gzip', Buffer.from('not gzip'), { 'content-encoding': 'gzip' }, 400, 3],
    ['an unknown compression', Buffer.from('x'), { 'content-encoding': 'compress' }, 415, 3],
  ])('of protobuf with %s is answered with a status in protobuf', async (_, raw, headers, status, code) => {
    const answer = await postBytes(raw, { ...protobufType, ...headers })
    expect([answer.status, answer.type]).toEqual([status, 'application/x-protobuf'])
    expect(fromProtobuf('RpcStatus', answer.bytes)).toEqual({ code, message: expect.stringMatching(/^[a-z`]/) })
  })

  it('needs an API key that may write', async () => {
    const make = async (scopes: string[]) =>
      (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: { name: 'k', scopes } })).body.key
    const spans = toProtobuf(requestOf(newTrace()))
    const unknown = await postBytes(spans, protobufType, 'SvcKey-unknown')
    expect([unknown.status, unknown.headers.has('www-authenticate')]).toEqual([401, true])
    expect(fromProtobuf('RpcStatus', unknown.bytes)).toMatchObject({ code: 16 })
    expect(await postBytes(spans, protobufType, await make(['read']))).toMatchObject({ status: 403 })
    expect(await post({ as: 'operator', body: requestOf() })).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
  })

  it('beyond the limit of its key is answered with 429 and the time to wait', async () => {
    const limited = await startPlatform({ env: { SVC_RATE_LIMIT_KEY: '1' } })
    const send = () => limited.call('POST', '/v1/traces', { as: 'key', body: {} })
    const answers = [await send(), await send()]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(Number(answers[1]?.headers.get('retry-after'))).toBeGreaterThan(0)
    await discard(limited)
  })
})

describe('an SDK', () => {
  it('is configured by its variables alone', async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = platform.url
    process.env.OTEL_EXPORTER_OTLP_HEADERS = `authorization=Bearer%20${platform.api_key}`
    process.env.OTEL_EXPORTER_OTLP_COMPRESSION = 'gzip'
    const provider = new TracerProvider({
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    })
    const loop = { tool: 'read_order', arguments: {}, result: 'shipped' }
    const trace_id = await agentLoop(provider.getTracer('agent'), loop)
    await provider.shutdown()
    expect(await stepsOf(platform, trace_id)).toEqual(loopSteps)
    // The SDK names the process where nothing names the service.
    const { agents } = (await platform.call<AgentList>('GET', '/api/v1/agents')).body
    expect(agents.map(({ agent_key }) => agent_key)).toContain('Helpdesk')
  })
})

describe('spans that cannot be stored', () => {
  const wrong = [
    { spanId: 'abc' },
    { traceId: '0'.repeat(32) },
    { startTimeUnixNano: '0' },
    { startTimeUnixNano: '-1' },
    { startTimeUnixNano: '300000000000000000000' },
  ]

  it('are counted with their reasons, and the others are stored', async () => {
    const valid = newTrace()
    const { status, body } = await post({
      body: requestOf(...wrong.map((each) => ({ ...newTrace(), ...each })), valid),
    })
    expect([status, body]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedSpans: '5',
          errorMessage:
            '5 of 6 spans were rejected: `spanId` is `abc`: expected 16 hexadecimal digits, not all 0; `traceId` is ' +
            '`00000000000000000000000000000000`: expected 32 hexadecimal digits, not all 0; `startTimeUnixNano` is `0`: ' +
            'expected nanoseconds since 1970; …',
        },
      },
    ])
    expect(await stepsOf(platform, String(valid.traceId))).toHaveLength(3)
  })

  it('are counted in protobuf as well', async () => {
    const valid = newTrace()
    const { status, bytes } = await postBytes(toProtobuf(requestOf({ ...newTrace(), spanId: 'abcd' }, valid)))
    const errorMessage = '1 of 2 spans was rejected: `spanId` is `abcd`: expected 16 hexadecimal digits, not all 0'
    expect([status, fromProtobuf('Response', bytes)]).toEqual([
      200,
      { partialSuccess: { rejectedSpans: 1, errorMessage } },
    ])
    expect(await stepsOf(platform, String(valid.traceId))).toHaveLength(3)
  })

  it('have the id of another span', async () => {
    const span = newTrace()
    const { body } = await post({ body: requestOf(span, { ...span, name: 'another' }) })
    expect(body).toMatchObject({ partialSuccess: { rejectedSpans: '1' } })
  })

  it('belong to the task of another key', async () => {
    const { key } = (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: { name: 'other' } })).body
    const span = newTrace()
    await post({ body: requestOf(span) })
    const { body } = await post({ as: key, body: requestOf(span, newTrace()) })
    expect(body).toMatchObject({
      partialSuccess: {
        rejectedSpans: '1',
        errorMessage: `1 of 2 spans was rejected: span \`${span.spanId}\`: this API key has no task \`${span.traceId}\``,
      },
    })
  })

  it('are those of an agent that is deactivated', async () => {
    const send = () => post({ body: otlpRequest([newTrace()], { 'service.name': 'sleeper' }) })
    await send()
    const { agents } = (await platform.call<AgentList>('GET', '/api/v1/agents?q=sleeper')).body
    const path = `/api/v1/agents/${agents[0]?.agent_id}`
    await platform.call<Agent>('DELETE', path)
    expect(await send()).toMatchObject({ status: 200, body: { partialSuccess: { rejectedSpans: '1' } } })
    await platform.call('POST', `${path}/reactivate`)
    expect(await send()).toMatchObject({ status: 200, body: {} })
  })
})
