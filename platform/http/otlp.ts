// OTLP over HTTP, as far as it differs from other requests: its media types, its limit, and its errors
// (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP").
import { errorTable, type PlatformError } from '../errors.js'
import { mediaTypeOf } from './oauth.js'
import { createWriter } from './protobuf.js'

export const protobufType = 'application/x-protobuf'

/** After decompression. The collector of OpenTelemetry has the same limit by default. */
export const maxOtlpBytes = 20 * 1024 * 1024

export function isProtobuf(content_type: string | undefined): boolean {
  return ['application/x-protobuf', 'application/protobuf'].includes(mediaTypeOf(content_type))
}

/** The codes of google.rpc.Code, by HTTP status; 3 (invalid argument) for all others. */
const codes: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 409: 10, 413: 8, 429: 8, 500: 13, 503: 14 }

/** The error as google.rpc.Status, which senders of protobuf read. */
export function rpcStatus({ code, message }: PlatformError): Uint8Array {
  return createWriter()
    .uint32(8)
    .int32(codes[errorTable[code].status] ?? 3)
    .uint32(18)
    .string(message)
    .finish()
}
