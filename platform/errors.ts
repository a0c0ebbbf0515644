// Everything that can go wrong for a caller, in one table (docs/design/platform.md §6).
import { problemSummary } from '@svc/engine'

export type ErrorCode = keyof typeof errorTable

/** Status and title of each code. */
export const errorTable = {
  MALFORMED: { status: 400, title: 'The request cannot be read' },
  AUTHORIZATION_PENDING: { status: 400, title: 'Not decided yet' },
  SLOW_DOWN: { status: 400, title: 'Asked too often' },
  EXPIRED_TOKEN: { status: 400, title: 'Over' },
  ACCESS_DENIED: { status: 400, title: 'Refused' },
  INVALID_GRANT: { status: 400, title: 'The grant is not valid' },
  UNSUPPORTED_GRANT_TYPE: { status: 400, title: 'Unsupported grant type' },
  UNAUTHENTICATED: { status: 401, title: 'No valid credential' },
  FORBIDDEN: { status: 403, title: 'Not allowed' },
  AGENT_DEACTIVATED: { status: 403, title: 'The agent is deactivated' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  CONFLICT: { status: 409, title: 'Conflict' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, title: 'The idempotency key was used for another request' },
  INVALID_TRANSITION: { status: 409, title: 'Not possible in this state' },
  TOO_LARGE: { status: 413, title: 'The request is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  INVALID: { status: 422, title: 'The request is not valid' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Internal error' },
  ENCRYPTION_KEY_INVALID: { status: 503, title: 'No key to keep secrets with' },
  UNAVAILABLE: { status: 503, title: 'Temporarily unavailable' },
} as const

export interface FieldError {
  readonly path: string
  readonly message: string
}

export interface ErrorExtras {
  readonly errors?: readonly FieldError[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** The one error of this package: a code from the table, one sentence, and the fields that are wrong. */
export class PlatformError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, detail: string, { errors = [], headers = {}, cause }: ErrorExtras = {}) {
    super(detail, { cause })
    this.code = code
    this.errors = errors
    this.headers = code === 'UNAVAILABLE' ? { 'retry-after': '1', ...headers } : headers
  }
}

/** FORBIDDEN, for whoever has another role, or none any more. */
export function onlyFor(roles: readonly string[], role: string | null): PlatformError {
  return new PlatformError(
    'FORBIDDEN',
    `this is for ${roles.join(', ').replace(/, (?=[^,]*$)/, ' or ')} only: you are ${role ?? 'no member'} here`,
  )
}

/** INVALID, naming every field that is wrong. */
export function invalid(errors: readonly FieldError[]): PlatformError {
  return new PlatformError('INVALID', problemSummary(errors), { errors })
}
