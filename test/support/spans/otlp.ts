// Spans in the short form of the cases, as OTLP JSON.
import type { JsonMap } from '@svc/schemas'

/** Id, parent id, name, start and end in seconds, attributes, other members; events have attributes by name. */
export type ShortSpan = readonly [
  id: string,
  parent: string | null,
  name: string,
  start: number,
  end: number | null,
  attributes?: JsonMap,
  others?: JsonMap,
]

/** ms since 1970 of second 0. */
export const spansBegin = Date.UTC(2026, 0, 5, 9)

export function otlpSpan(
  [id, parent, name, start, end, attributes = {}, others = {}]: ShortSpan,
  trace = '1',
): JsonMap {
  const { events, ...members } = others
  return {
    traceId: hexOf(trace, 32),
    spanId: hexOf(id, 16),
    ...(parent !== null && { parentSpanId: hexOf(parent, 16) }),
    name,
    startTimeUnixNano: nanos(start),
    ...(end !== null && { endTimeUnixNano: nanos(end) }),
    attributes: otlpAttributes(attributes),
    ...(Array.isArray(events) && {
      events: events.map((event: JsonMap) => ({ ...event, attributes: otlpAttributes(event.attributes as JsonMap) })),
    }),
    ...members,
  }
}

/** A request of an exporter. */
export function otlpRequest(spans: readonly unknown[], resource: JsonMap = { 'service.name': 'shop' }): JsonMap {
  return { resourceSpans: [{ resource: { attributes: otlpAttributes(resource) }, scopeSpans: [{ spans }] }] }
}

/** Lists and objects are JSON text, as libraries write them. */
export function otlpAttributes(attributes: JsonMap): JsonMap[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: unknown): JsonMap {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { stringValue: typeof value === 'string' ? value : JSON.stringify(value) }
}

function nanos(seconds: number): string {
  return `${BigInt(spansBegin) * 1_000_000n + BigInt(Math.round(seconds * 1e9))}`
}

/** Letters as digits of an id. */
function hexOf(id: string, length: number): string {
  return Buffer.from(id).toString('hex').padStart(length, '0')
}
