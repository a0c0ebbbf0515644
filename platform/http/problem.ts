// Errors as callers see them (RFC 9457): from the one table, never a stack trace, never a bare 500.
import type { Problem } from '@svc/schemas'
import { errorTable, PlatformError } from '../errors.js'

/** The body of an error answer. */
export function problemOf(error: PlatformError, request_id: string): Problem {
  const { status, title } = errorTable[error.code]
  const errors = error.errors.map(({ path, message }) => ({ path, message }))
  return { type: 'about:blank', title, status, detail: error.message, code: error.code, request_id, errors }
}

/** What any thrown value is to a caller. What is not ours is INTERNAL; the log has the rest. */
export function asPlatformError(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error
  const { type, status } = error as { type?: string; status?: number }
  if (type === 'entity.too.large') return new PlatformError('TOO_LARGE', 'the body is too large: 1 MiB, a batch 8 MiB')
  if (type === 'encoding.unsupported') {
    return new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'compressed bodies are not accepted: send it as it is')
  }
  if (status === 413) return new PlatformError('TOO_LARGE', 'there is too much in the form')
  if (status === 415) return new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'send it in UTF-8')
  if (status !== undefined && status >= 400 && status < 500)
    return new PlatformError('MALFORMED', 'the request cannot be read')
  return new PlatformError('INTERNAL', 'something went wrong here: the request id helps to find it', { cause: error })
}
