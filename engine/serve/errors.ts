// The errors of the local engine, with their HTTP status.
import { STATUS_CODES } from 'node:http'
import type { Problem } from '@svc/schemas'

export type ServeErrorCode = keyof typeof statusOf

const statusOf = {
  MALFORMED: 400,
  UNAUTHENTICATED: 401,
  FOREIGN_ORIGIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  OTHER_AGENT: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED: 421,
  INVALID: 422,
  INTERNAL: 500,
  FULL: 503,
} as const

export type FieldErrors = Problem['errors']

export class ServeError extends Error {
  readonly code: ServeErrorCode
  readonly errors: FieldErrors

  constructor(code: ServeErrorCode, detail: string, errors: FieldErrors = []) {
    super(detail)
    this.code = code
    this.errors = errors
  }
}

/** A member with a wrong value. */
export function invalid(path: string, message: string): ServeError {
  return new ServeError('INVALID', `\`${path}\`: ${message}`, [{ path, message }])
}

/** The body of an error answer (RFC 9457). */
export function problemOf({ code, message, errors }: ServeError, request_id: string): Problem {
  const status = statusOf[code]
  return { type: 'about:blank', title: STATUS_CODES[status] ?? code, status, detail: message, code, request_id, errors }
}
