// A span of OTLP JSON, read leniently: ids in hex or base64, times as text or numbers.
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { type Attributes, attributesOf } from './any-value.js'

/** In the order of their numbers. */
const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const
export type SpanKind = (typeof kinds)[number]

export interface SpanEvent {
  readonly name: string
  readonly attributes: Attributes
}

export interface Span {
  /** Ids are lower-case hex. */
  readonly trace_id: string
  readonly span_id: string
  /** Null for the root of a trace. */
  readonly parent_id: string | null
  readonly name: string
  /** The library that made the span; null when it gives no name. */
  readonly scope: string | null
  readonly kind: SpanKind
  /** True for a span that answers a request or a message of another program. */
  readonly is_entry: boolean
  /** ns since 1970. */
  readonly start: bigint
  /** Null for a span that has not ended. */
  readonly end: bigint | null
  readonly attributes: Attributes
  readonly resource: Attributes
  readonly events: readonly SpanEvent[]
  /** Null for a span that did not fail. */
  readonly error: SpanError | null
}

export interface SpanError {
  readonly type: string | null
  readonly message: string | null
}

export type SpanReading = { readonly span: Span; readonly problem: null } | { readonly problem: string }

/** Members that all spans of a group have. */
export interface SpanGroup {
  readonly resource: Attributes
  readonly scope: string | null
}

/** Reads a span; the problem names the member, what it is, and what it should be. */
export function readSpan(value: unknown, group: SpanGroup): SpanReading {
  if (!isMap(value)) return { problem: 'is not an object' }
  const trace_id = idOf(value.traceId, 16)
  if (trace_id === null) return { problem: idProblem('traceId', value.traceId, 16) }
  const span_id = idOf(value.spanId, 8)
  if (span_id === null) return { problem: idProblem('spanId', value.spanId, 8) }
  const start = nanosOf(value.startTimeUnixNano)
  if (start === null || start === 0n) return { problem: timeProblem('startTimeUnixNano', value.startTimeUnixNano) }
  const end = value.endTimeUnixNano === undefined ? 0n : nanosOf(value.endTimeUnixNano)
  if (end === null) return { problem: timeProblem('endTimeUnixNano', value.endTimeUnixNano) }
  const span = { trace_id, span_id, start, end: end === 0n ? null : end, ...group, ...othersOf(value, span_id) }
  return { span, problem: null }
}

/** Members that a span can do without. */
function othersOf(value: JsonMap, span_id: string) {
  const { name, kind, parentSpanId, status } = value
  const attributes = attributesOf(value.attributes)
  const events = eventsOf(value.events)
  const parent_id = idOf(parentSpanId, 8)
  return {
    parent_id: parent_id === span_id ? null : parent_id,
    name: typeof name === 'string' && name !== '' ? name : 'span',
    kind: kindOf(kind),
    is_entry: entryKinds.has(kindOf(kind)),
    attributes,
    events,
    error: errorOf(isMap(status) ? status : {}, attributes, events),
  }
}

const entryKinds: ReadonlySet<SpanKind> = new Set(['server', 'consumer'])

/** A kind as a number or as a name of the enumeration. */
function kindOf(given: unknown): SpanKind {
  const numbered = typeof given === 'number' ? kinds[given] : undefined
  const named = typeof given === 'string' ? given.replace(/^SPAN_KIND_/, '').toLowerCase() : numbered
  return kinds.find((kind) => kind === named) ?? 'unspecified'
}

function eventsOf(events: unknown): SpanEvent[] {
  if (!Array.isArray(events)) return []
  return events
    .filter(isMap)
    .map(({ name, attributes }) => ({ name: textOf(name) ?? 'event', attributes: attributesOf(attributes) }))
}

function errorOf({ code, message }: JsonMap, attributes: Attributes, events: readonly SpanEvent[]): SpanError | null {
  const type = attributes.get('error.type')
  if (code !== 2 && code !== 'STATUS_CODE_ERROR' && type === undefined) return null
  const exception = events.findLast(({ name }) => name === 'exception')?.attributes
  return {
    type: textOf(type) ?? textOf(exception?.get('exception.type')),
    message: textOf(message) ?? textOf(exception?.get('exception.message')),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The id in hex; null for another value and for zeros, which mean no id. */
function idOf(given: unknown, bytes: number): string | null {
  if (typeof given !== 'string') return null
  const hex = given.length === 2 * bytes ? given.toLowerCase() : hexOf(given, bytes)
  return /^[0-9a-f]+$/.test(hex) && !/^0+$/.test(hex) && hex.length === 2 * bytes ? hex : null
}

function hexOf(base64: string, bytes: number): string {
  const expected = 4 * Math.ceil(bytes / 3)
  return base64.length === expected && /^[A-Za-z0-9+/]+=*$/.test(base64)
    ? Buffer.from(base64, 'base64').toString('hex')
    : ''
}

/** ns since 1970; older exporters split the number into two halves. Null for another value and after the year 9999. */
function nanosOf(given: unknown): bigint | null {
  if (isMap(given) && Number.isInteger(given.low) && Number.isInteger(given.high))
    return withinYears((BigInt(Number(given.high) >>> 0) << 32n) | BigInt(Number(given.low) >>> 0))
  if (typeof given === 'number') return Number.isInteger(given) && given >= 0 ? withinYears(BigInt(given)) : null
  return typeof given === 'string' && /^\d{1,20}$/.test(given) ? withinYears(BigInt(given)) : null
}

const endOfYears = BigInt(Date.UTC(10_000, 0)) * 1_000_000n

function withinYears(nanos: bigint): bigint | null {
  return nanos < endOfYears ? nanos : null
}

function idProblem(member: string, given: unknown, bytes: number): string {
  if (given === undefined || given === null) return `\`${member}\` is missing`
  return `\`${member}\` is ${shown(given)}: expected ${2 * bytes} hexadecimal digits, not all 0`
}

function timeProblem(member: string, given: unknown): string {
  if (given === undefined || given === null) return `\`${member}\` is missing`
  return `\`${member}\` is ${shown(given)}: expected nanoseconds since 1970`
}

const maxShown = 40

/** A wrong value in a message. */
function shown(given: unknown): string {
  if (typeof given !== 'string' && typeof given !== 'number') return `a ${typeof given}`
  const text = String(given)
  return `\`${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}\``
}
