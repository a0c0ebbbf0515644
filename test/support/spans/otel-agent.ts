// An agent that is instrumented with the OpenTelemetry SDK and the conventions for generative AI, exported unchanged.
import { type Attributes, context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TestPlatform } from '../server/platform.js'

export interface Exporting {
  readonly format: 'json' | 'protobuf'
  readonly compression: 'none' | 'gzip'
  /** Spans of a request. */
  readonly batch: number
}

/** Sends the spans that have ended. */
export type Flush = () => Promise<void>

/**
 * Runs an agent, and returns when all its spans were exported. Rejects when an export failed. Spans that the agent does not
 * flush are sent at its end, in as many requests at once as they need.
 */
export async function exported(
  { url, api_key }: Pick<TestPlatform, 'url' | 'api_key'>,
  { format, compression, batch }: Exporting,
  run: (tracer: Tracer, flush: Flush) => Promise<void> | void,
  resource: Attributes = { 'service.name': 'helpdesk' },
): Promise<void> {
  const Exporter = format === 'json' ? JsonExporter : ProtobufExporter
  const exporter = new Exporter({
    url: `${url}/v1/traces`,
    headers: { authorization: `Bearer ${api_key}` },
    // The enumeration of the exporters has these values.
    compression: compression as never,
  })
  const failures: unknown[] = []
  const watched: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) failures.push(result.error)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
  const processor = new BatchSpanProcessor({ exporter: watched, maxExportBatchSize: batch })
  const provider = new TracerProvider({ resource: resourceFromAttributes(resource), spanProcessors: [processor] })
  await run(provider.getTracer('agent-sdk', '1.0.0'), () => provider.forceFlush())
  await provider.forceFlush()
  await provider.shutdown()
  if (failures.length > 0) throw failures[0]
}

/** A span, and what happens in it. */
export async function inSpan(
  tracer: Tracer,
  parent: Span | null,
  name: string,
  attributes: Attributes,
  act: (span: Span) => Promise<void> | void = () => undefined,
): Promise<Span> {
  const outer = parent === null ? context.active() : trace.setSpan(context.active(), parent)
  const span = tracer.startSpan(name, { attributes }, outer)
  try {
    await act(span)
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
  }
  span.end()
  return span
}

const user = (text: string) => ({ role: 'user', parts: [{ type: 'text', content: text }] })
const call = (id: string, name: string, given: object) => ({
  role: 'assistant',
  parts: [{ type: 'tool_call', id, name, arguments: given }],
})
const result = (id: string, response: string) => ({
  role: 'tool',
  parts: [{ type: 'tool_call_response', id, response }],
})
const answer = (text: string) => ({ role: 'assistant', parts: [{ type: 'text', content: text }] })

export const messages = { user, call, result, answer }

export interface Loop {
  readonly tool: string
  readonly arguments: object
  readonly result: string
  readonly conversation?: string
  readonly question?: string
  readonly call_id?: string
  /** Attributes of the invocation. */
  readonly agent?: Attributes
  /** Called after each span. */
  readonly after?: Flush
}

/** The loop of an agent: a model asks for a tool, the tool answers, the model answers the user. Returns the trace id. */
export async function agentLoop(tracer: Tracer, { tool, result: found, ...loop }: Loop): Promise<string> {
  const { conversation, question = 'Where is my order?', call_id = 'call_1', agent = {}, after } = loop
  const named = conversation === undefined ? {} : { 'gen_ai.conversation.id': conversation }
  const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm-1', ...named }
  const first = [user(question)]
  const asked = call(call_id, tool, loop.arguments)
  const second = [...first, asked, result(call_id, found)]
  const json = (value: unknown) => JSON.stringify(value)
  const invocation = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'Helpdesk', ...named, ...agent }
  const root = await inSpan(tracer, null, 'invoke_agent Helpdesk', invocation, async (span) => {
    await inSpan(tracer, span, 'chat m-1', {
      ...model,
      'gen_ai.input.messages': json(first),
      'gen_ai.output.messages': json([asked]),
      'gen_ai.usage.input_tokens': 12,
    })
    await after?.()
    await inSpan(tracer, span, `execute_tool ${tool}`, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': call_id,
      'gen_ai.tool.call.arguments': json(loop.arguments),
      'gen_ai.tool.call.result': found,
    })
    await after?.()
    await inSpan(tracer, span, 'chat m-1', {
      ...model,
      'gen_ai.input.messages': json(second),
      'gen_ai.output.messages': json([answer('It arrives tomorrow.')]),
    })
    await after?.()
    span.setAttributes({
      'gen_ai.input.messages': json(first),
      'gen_ai.output.messages': json([answer('It arrives tomorrow.')]),
    })
  })
  return root.spanContext().traceId
}
