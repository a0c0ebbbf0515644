// The spans of an export request, in either of its formats. What cannot be read alone is rejected alone.
import { readOtlpBody, readSpan, type Span, spansIn } from '@svc/engine/parts'
import { PlatformError } from '../../errors.js'
import { isProtobuf } from '../../http/otlp.js'
import { type LaterMessage, readMessage, UnreadableMessage } from '../../http/protobuf.js'
import { decode, wellFormed } from '../../http/validate.js'
import type { Pace } from '../pace.js'
import { divideJson } from './divided-json.js'
import { exportRequest } from './request-fields.js'

export interface ExportedSpans {
  readonly spans: readonly Span[]
  /** Of each span that cannot be read. */
  readonly problems: readonly string[]
}

/** Levels of messages, of which each level of a value takes three. */
const maxDepth = 1_000
/**
 * Objects and lists of a request, also those in attributes that hold JSON as text. Two bytes of text become an object of up to
 * 500 bytes; requests of SDKs have one for each 22 bytes or more, so that their limit is the size.
 */
const maxValues = 1_000_000
/** Requests up to this size are read at once, so that a fault of their JSON has its line and column. */
const maxWholeBytes = 256 * 1024
/** The maximum size of a larger request without its spans. */
const maxEnvelopeBytes = 1024 * 1024

/** As large as a step of a batch can be: a larger span is rejected before it is read. */
const maxSpanBytes = 8 * 1024 * 1024
const tooLarge = 'the span is larger than 8 MiB'

/** A request without the content of its spans. */
interface Envelope {
  readonly value: unknown
  /** The content of a span in its place. Throws PlatformError and UnreadableMessage. */
  readonly contentOf: (given: unknown) => unknown
}

/** Rejects with MALFORMED and TOO_LARGE. */
export async function readExportRequest(
  pace: Pace,
  sent: Uint8Array,
  content_type: string | undefined,
): Promise<ExportedSpans> {
  const raw = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength)
  await assertBounded(pace, raw)
  const { value, contentOf } = isProtobuf(content_type) ? protobufEnvelope(raw) : await jsonEnvelope(pace, raw)
  const found = isEmpty(value) ? [] : spansIn(value)
  if (found === null) {
    const remedy = 'its names are written in camel case, and logs and metrics have endpoints of their own'
    throw new PlatformError('MALFORMED', `the body is not OTLP JSON: \`resourceSpans\` is missing; ${remedy}`)
  }
  const spans: Span[] = []
  const problems: string[] = []
  for (const given of found) {
    await pace()
    const reading = given.problem === null ? orProblem(() => readSpan(contentOf(given.value), given.group)) : given
    if (reading.problem === null) spans.push(reading.span)
    else problems.push(reading.problem)
  }
  return { spans, problems }
}

/** An error of one span concerns it alone; a limit concerns the request. */
function orProblem<T>(read: () => T): T | { readonly problem: string } {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableMessage && error.code !== 'too_many') return { problem: error.message }
    if (error instanceof PlatformError) return { problem: error.message }
    throw unreadable(error)
  }
}

function protobufEnvelope(raw: Uint8Array): Envelope {
  try {
    const value = readMessage(raw, exportRequest, { depth: maxDepth, messages: maxValues })
    return { value, contentOf: (given) => contentOfMessage(given as LaterMessage) }
  } catch (error) {
    throw unreadable(error)
  }
}

function contentOfMessage({ length, read }: LaterMessage) {
  if (length > maxSpanBytes) throw new PlatformError('TOO_LARGE', tooLarge)
  return read()
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof UnreadableMessage)) return error
  if (error.code === 'too_many') return tooMany()
  return new PlatformError('MALFORMED', `${error.message}: send an ExportTraceServiceRequest`)
}

async function jsonEnvelope(pace: Pace, raw: Buffer): Promise<Envelope> {
  if (raw.length === 0) throw new PlatformError('MALFORMED', 'the body is empty: send OTLP as JSON')
  if (raw.length <= maxWholeBytes) return { value: parsed(raw), contentOf: (given) => given }
  const divided = await divideJson(pace, raw)
  if (divided === null)
    throw new PlatformError('MALFORMED', 'the body is not JSON: a text, a list or an object is open')
  if (divided.envelope.length > maxEnvelopeBytes)
    throw new PlatformError('TOO_LARGE', `the request has more than ${maxEnvelopeBytes} bytes beside its spans`)
  const texts = new Map(divided.spans.entries())
  return {
    value: parsed(divided.envelope),
    contentOf: (given) => {
      const text = texts.get(given as number)
      // Each once: a number in the request itself could repeat a large span.
      texts.delete(given as number)
      if (text === undefined) return given
      if (text.length > maxSpanBytes) throw new PlatformError('TOO_LARGE', tooLarge)
      return parsed(text)
    },
  }
}

function parsed(raw: Uint8Array): unknown {
  const reading = readOtlpBody(wellFormed(decode(raw)))
  if (reading.problem !== null) throw new PlatformError('MALFORMED', reading.problem)
  return reading.value
}

/** A request without spans, as some SDKs send it to see whether the endpoint answers. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value !== 'object' || value === null) return false
  const { resourceSpans = null, ...others } = value as { readonly resourceSpans?: unknown }
  return resourceSpans === null && Object.keys(others).length === 0
}

/** Bytes between two looks at the time. */
const lookEach = 1024 * 1024

async function assertBounded(pace: Pace, bytes: Uint8Array): Promise<void> {
  let count = 0
  for (let from = 0; from < bytes.length; from += lookEach) {
    count += bracketsIn(bytes.subarray(from, from + lookEach))
    if (count > maxValues) throw tooMany()
    await pace()
  }
}

function bracketsIn(bytes: Uint8Array): number {
  let count = 0
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === 0x7b || bytes[index] === 0x5b) count++
  return count
}

function tooMany(): PlatformError {
  return new PlatformError(
    'TOO_LARGE',
    `the request has more than ${maxValues} objects and lists: send smaller batches`,
  )
}
