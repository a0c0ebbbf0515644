// Errors as callers see them (RFC 9457): always a code of the table, never a stack trace.
import type { Problem } from '@svc/schemas'
import { errorTable, PlatformError } from '../errors.js'

/** The body of an error answer. */
export function problemOf(error: PlatformError, request_id: string): Problem {
  const { status, title } = errorTable[error.code]
  const errors = error.errors.map(({ path, message, id, line, column }) => ({
    path,
    message,
    ...(id !== undefined && { id }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }))
  return { type: 'about:blank', title, status, detail: error.message, code: error.code, request_id, errors }
}

/** Any thrown value as an error of this API. Unknown values become INTERNAL; their details go to the log only. */
export function asPlatformError(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error
  const { type, status } = error as { type?: string; status?: number }
  if (type === 'entity.too.large')
    return new PlatformError(
      'TOO_LARGE',
      'the body is too large: the limit is 1 MiB, 8 MiB for a batch, and 20 MiB for OTLP',
    )
  if (type === 'encoding.unsupported') {
    return new PlatformError(
      'UNSUPPORTED_MEDIA_TYPE',
      'the `content-encoding` is not supported here: send the body uncompressed',
    )
  }
  if (status === 413) return new PlatformError('TOO_LARGE', 'the form has too many fields')
  if (status === 415)
    return new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'the charset of the body is not supported: send it in UTF-8')
  if (status !== undefined && status >= 400 && status < 500)
    return new PlatformError('MALFORMED', 'the request is malformed')
  return new PlatformError('INTERNAL', 'internal error: report it with the `request_id`', { cause: error })
}
