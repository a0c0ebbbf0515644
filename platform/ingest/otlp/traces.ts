// The spans of a request by their traces, and those that are not acts of an agent by what they have in common.
import { createHash } from 'node:crypto'
import { conversationOf, isSameSpan, operationOf, type Sliced, type Span } from '@svc/engine/parts'
import type { CountedSpans } from '../store/unmapped-spans.js'

export interface Trace {
  readonly trace_id: string
  readonly spans: readonly Span[]
  /** True if a span of it, in this request, is an act of an agent. */
  readonly has_acts: boolean
  /** The conversation that one of the spans names; null when none does. */
  readonly conversation: string | null
}

/** The traces of the spans; a span that is there twice counts once. `reject` gets spans with the id of another. */
export function* tracesOf(spans: readonly Span[], reject: (span: Span, reason: string) => void): Sliced<Trace[]> {
  const traces = new Map<string, Map<string, Span>>()
  for (const span of spans) {
    yield
    const trace = traces.get(span.trace_id) ?? new Map<string, Span>()
    traces.set(span.trace_id, trace)
    const first = trace.get(span.span_id)
    if (first === undefined) trace.set(span.span_id, span)
    else if (!isSameSpan(first, span)) reject(span, 'another span of the trace has its `spanId`')
  }
  const all: Trace[] = []
  for (const [trace_id, found] of traces) {
    yield
    const own = [...found.values()]
    const named = own.map(conversationOf).find((conversation) => conversation !== null)
    const has_acts = own.some((span) => operationOf(span) !== null)
    all.push({ trace_id, spans: own, has_acts, conversation: named ?? null })
  }
  return all
}

/** The spans that are not acts of an agent, counted. */
export function* unmappedIn(traces: readonly Trace[], api_key_id: string): Sliced<CountedSpans[]> {
  const rows = new Map<string, CountedSpans>()
  for (const span of traces.flatMap((trace) => trace.spans)) {
    if (operationOf(span) !== null) continue
    yield
    const service = span.resource.get('service.name')
    const common = {
      api_key_id,
      service: typeof service === 'string' ? shown(service) : null,
      scope: span.scope === null ? null : shown(span.scope),
      // The pattern takes time in the square of the length.
      name: shown(withoutIds(span.name.slice(0, maxShown))),
      kind: span.kind,
    }
    const key = JSON.stringify(common)
    const { trace_id, span_id } = span
    const row = rows.get(key) ?? { ...common, digest: sha256(key), count: 0, trace_id, span_id }
    rows.set(key, { ...row, count: row.count + 1 })
  }
  return [...rows.values()]
}

/** Names that differ by an id or a number are one name. */
function withoutIds(name: string): string {
  return name.replaceAll(/(?=[0-9a-f-]*\d)[0-9a-f][0-9a-f-]{7,}|\d+/gi, '*')
}

const maxShown = 200

function shown(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, maxShown)
    .toWellFormed()
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
