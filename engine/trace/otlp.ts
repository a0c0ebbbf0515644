// The trace as spans over OTLP/HTTP JSON (docs/design/engine.md §8): they wait on disk until the collector takes them.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { versionOf } from '@svc/schemas'
import { endpointAt, type OtlpEndpoint } from './otlp-endpoint.js'
import { type Delivery, startSender } from './sender.js'
import type { Environment } from './settings.js'
import type { Sink } from './sink.js'
import { spanOf } from './spans.js'
import { openSpool } from './spool.js'

/** The sink of a location `otlp:URL` without a problem. `service` is `service.name` of the spans. */
export function otlpSink(location: string, env: Environment, service: string, report: (line: string) => void): Sink {
  const endpoint = endpointAt(location, env)
  const folder = env.SVC_CACHE_DIR || join(env.SVC_DATA_DIR || 'data', 'cache')
  const name = `otlp-${createHash('sha256').update(endpoint.href).digest('hex').slice(0, 32)}`
  const sender = startSender({
    spool: openSpool(folder, name, report),
    deliver: (spans, signal) => postSpans(endpoint, service, spans, signal),
    noun: 'spans',
    random: Math.random,
    report,
  })
  return {
    on_stdout: false,
    write: (line) => {
      const span = spanOf(line)
      if (span !== null) sender.send(JSON.stringify(span))
    },
    // A span is in the spool when `write` returns.
    settled: async () => undefined,
    recall: null,
    flush: async () => undefined,
    close: sender.close,
  }
}

const postTimeoutMs = 10_000
/** The collector cannot take these spans, now or later; 415 is about every span, and can be mended. */
const finalStatuses = [400, 413, 422]

/** One request; never rejects. No message contains a header. */
export async function postSpans(
  { href, headers }: OtlpEndpoint,
  service: string,
  spans: readonly string[],
  stopping: AbortSignal,
): Promise<Delivery> {
  const { origin } = new URL(href)
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(postTimeoutMs)])
    const response = await fetch(href, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: exportRequest(service, spans),
      // A redirect would send the headers and the spans to another address.
      redirect: 'manual',
      signal,
    })
    if (response.ok) return { kind: 'delivered', problems: await problemsIn(response) }
    await response.body?.cancel()
    const problem = `${origin} does not take spans (${response.status})${remedyOf(response.status)}`
    if (finalStatuses.includes(response.status)) return { kind: 'rejected', problem }
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    return { kind: 'failed', problem, retry_after: seconds > 0 ? seconds * 1000 : null }
  } catch (error) {
    return { kind: 'failed', problem: `spans cannot be sent to ${origin}: ${reasonOf(error)}`, retry_after: null }
  }
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403) return ': OTEL_EXPORTER_OTLP_HEADERS lacks or has a wrong credential'
  if (status === 404 || status === 405) return ': the path of the log location is wrong, mostly it is /v1/traces'
  return status === 415 ? ': it must accept OTLP as JSON' : ''
}

/** The spans are JSON texts. */
function exportRequest(service: string, spans: readonly string[]): string {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  const scope = JSON.stringify({ name: 'svc', version: versionOf('engine') })
  const scopeSpans = `[{"scope":${scope},"spans":[${spans.join(',')}]}]`
  return `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":${scopeSpans}}]}`
}

const maxDetail = 300

/** A collector names spans that it drops in a partial success, and counts them as text or a number. */
async function problemsIn(response: Response): Promise<string[]> {
  const { partialSuccess } = Object(await response.json().catch(() => null)) as { partialSuccess?: unknown }
  const { rejectedSpans, errorMessage } = Object(partialSuccess) as { rejectedSpans?: unknown; errorMessage?: unknown }
  const count = Number(rejectedSpans ?? 0)
  return count > 0 ? [`${count} spans were rejected: ${String(errorMessage ?? '').slice(0, maxDetail)}`] : []
}

/** The cause of a failed fetch has more detail than its message. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `no answer within ${postTimeoutMs / 1000} s`
  return cause?.code ?? cause?.message ?? message
}
