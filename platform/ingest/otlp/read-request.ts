// The spans of an export request, in either of its formats. What cannot be read alone is rejected alone.
import { readOtlp, readOtlpBody, type Span } from '@svc/engine'
import { PlatformError } from '../../errors.js'
import { isProtobuf } from '../../http/otlp.js'
import { readMessage, UnreadableMessage } from '../../http/protobuf.js'
import { decode, wellFormed } from '../../http/validate.js'
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

/** Throws MALFORMED and TOO_LARGE. */
export function readExportRequest(raw: Uint8Array, content_type: string | undefined): ExportedSpans {
  if (bracketsIn(raw) > maxValues) throw tooMany()
  if (isProtobuf(content_type)) return readProtobuf(raw)
  if (raw.length === 0) throw new PlatformError('MALFORMED', 'the body is empty: send OTLP as JSON')
  const reading = readOtlpBody(wellFormed(decode(raw)))
  if (reading.problem !== null) throw new PlatformError('MALFORMED', reading.problem)
  return sorted(reading.value, [])
}

function readProtobuf(raw: Uint8Array): ExportedSpans {
  try {
    const { value, problems } = readMessage(raw, exportRequest, { depth: maxDepth, messages: maxValues })
    return sorted(value, problems)
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error
    if (error.code === 'too_many') throw tooMany()
    throw new PlatformError('MALFORMED', `${error.message}: send an ExportTraceServiceRequest`)
  }
}

function sorted(value: unknown, problems: readonly string[]): ExportedSpans {
  const found = isEmpty(value) ? [] : readOtlp(value)
  if (found === null) {
    const remedy = 'its names are written in camel case, and logs and metrics have endpoints of their own'
    throw new PlatformError('MALFORMED', `the body is not OTLP JSON: \`resourceSpans\` is missing; ${remedy}`)
  }
  return {
    spans: found.flatMap((reading) => (reading.problem === null ? [reading.span] : [])),
    problems: [...problems, ...found.flatMap(({ problem }) => (problem === null ? [] : [problem]))],
  }
}

/** A request without spans, as some SDKs send it to see whether the endpoint answers. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value !== 'object' || value === null) return false
  const { resourceSpans = null, ...others } = value as { readonly resourceSpans?: unknown }
  return resourceSpans === null && Object.keys(others).length === 0
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
