// The trace as spans over OTLP/HTTP JSON (docs/design/engine.md §8): they wait on disk until the collector takes them.
import { join } from 'node:path'
import { versionOf } from '@svc/schemas'
import { headOf } from '../delivery/line-head.js'
import { failureOf, isPage, isTaken, objectIn, post } from '../delivery/post.js'
import type { Delivery, Rejection } from '../delivery/sender.js'
import { orDropped, spooled, spoolOf } from '../delivery/spooled.js'
import { statusOf } from '../delivery/status.js'
import { otlpSpool } from '../journal/other-spools.js'
import { endpointAt, type OtlpEndpoint } from './otlp-endpoint.js'
import { dataFolder, type Environment } from './settings.js'
import type { Sink } from './sink.js'
import { spanOf } from './spans.js'

/** The spans of some hours of an outage. */
const limits = spoolOf(64 * 1024 * 1024)

/** The sink of a location `otlp:URL` without a problem. `service` is `service.name` of the spans. */
export function otlpSink(location: string, env: Environment, service: string, report: (line: string) => void): Sink {
  const endpoint = endpointAt(location, env)
  const { spool, sender } = spooled({
    folder: join(dataFolder(env), 'spool'),
    name: otlpSpool(endpoint.href).name,
    noun: 'spans',
    limits,
    max_lines: 100,
    deliver: (spans, signal) => postSpans(endpoint, service, spans, signal),
    report,
  })
  const { write, dropped } = orDropped(spool, sender, 'spans', report)
  return {
    on_stdout: false,
    write: (line) => {
      const span = spanOf(line)
      if (span !== null) write(spanLine(line.recorded_at, span))
    },
    settled: spool.settled,
    recall: null,
    flush: spool.flush,
    close: sender.close,
    status: () => statusOf(spool, sender, dropped()),
  }
}

/** A span with the head of a line, so that the age of what waits is known. */
function spanLine(recorded_at: string, span: object): string {
  return `{"kind":"span","recorded_at":${JSON.stringify(recorded_at)},${JSON.stringify(span).slice(1)}`
}

const postTimeoutMs = 10_000
/** The collector cannot take these spans, now or later; 415 is about every span, and can be mended. */
const finalStatuses = [400, 413, 422]

/** One request; never rejects. No message contains a header. */
export async function postSpans(
  { href, headers }: OtlpEndpoint,
  service: string,
  lines: readonly Buffer[],
  stopping: AbortSignal,
): Promise<Delivery> {
  const { origin } = new URL(href)
  const body = exportRequest(service, lines)
  const answer = await post({ href, headers, api_key: null, body, timeout_ms: postTimeoutMs, noun: 'spans' }, stopping)
  if ('problem' in answer) return { kind: 'failed', ...answer }
  if (isTaken(answer) && !isPage(answer))
    return { kind: 'delivered', taken: lines.length, rejected: rejectedIn(answer.bytes), later: null }
  const problem = `${origin} does not take spans (${answer.status})${remedyOf(answer.status)}`
  if (finalStatuses.includes(answer.status)) return { kind: 'rejected', problem, detail: '' }
  return { kind: 'failed', ...failureOf(answer, problem, Date.now()) }
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403) return ': OTEL_EXPORTER_OTLP_HEADERS lacks or has a wrong credential'
  if (status === 404 || status === 405) return ': the path of the log location is wrong, mostly it is /v1/traces'
  return status === 415 ? ': it must accept OTLP as JSON' : ''
}

function exportRequest(service: string, lines: readonly Buffer[]): string {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  const scope = JSON.stringify({ name: 'svc', version: versionOf('engine') })
  return `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[{"scope":${scope},"spans":[${lines.map(spanIn)}]}]}]}`
}

/** The span of a line without its head; a line of an earlier version has none. */
function spanIn(line: Buffer): string {
  return headOf(line)?.others ?? line.toString()
}

const maxDetail = 300

/** A collector counts the spans that it drops in a partial success, as text or a number, and does not say which: the first one stands for them. */
function rejectedIn(bytes: Buffer): Rejection[] {
  const { rejectedSpans, errorMessage } = Object(objectIn(bytes)?.partialSuccess) as Record<string, unknown>
  const count = Number(rejectedSpans ?? 0)
  const detail = String(errorMessage ?? '').slice(0, maxDetail)
  return count > 0 ? [{ line: 0, problem: `${count} spans were rejected`, detail }] : []
}
