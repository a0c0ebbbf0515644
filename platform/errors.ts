// Every error of the API, in one table (docs/design/platform.md §6).
import { problemSummary } from '@svc/engine/parts'

export type ErrorCode = keyof typeof errorTable

/** Status and title of each code. */
export const errorTable = {
  MALFORMED: { status: 400, title: 'Malformed request' },
  AUTHORIZATION_PENDING: { status: 400, title: 'Authorization pending' },
  SLOW_DOWN: { status: 400, title: 'Polling too often' },
  EXPIRED_TOKEN: { status: 400, title: 'Expired' },
  ACCESS_DENIED: { status: 400, title: 'Access denied' },
  INVALID_GRANT: { status: 400, title: 'Invalid grant' },
  UNSUPPORTED_GRANT_TYPE: { status: 400, title: 'Unsupported grant type' },
  UNAUTHENTICATED: { status: 401, title: 'No valid credential' },
  FORBIDDEN: { status: 403, title: 'Not allowed' },
  PRIVATE_REPO_NEEDS_TOKEN: { status: 403, title: 'Private repository' },
  AGENT_DEACTIVATED: { status: 403, title: 'Agent deactivated' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  CONFLICT: { status: 409, title: 'Conflict' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, title: 'Idempotency key reused' },
  MANAGED_BY_STOP: { status: 409, title: 'Managed by a stop' },
  INVALID_TRANSITION: { status: 409, title: 'Invalid transition' },
  MANAGED_BY_MANIFEST: { status: 409, title: 'Managed by a manifest' },
  PRECONDITION_FAILED: { status: 412, title: 'Changed meanwhile' },
  TOO_LARGE: { status: 413, title: 'Request too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  MISDIRECTED: { status: 421, title: 'Misdirected request' },
  INVALID: { status: 422, title: 'Invalid request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Internal error' },
  ENCRYPTION_KEY_INVALID: { status: 503, title: 'Encryption key missing' },
  UNAVAILABLE: { status: 503, title: 'Temporarily unavailable' },
} as const

export interface FieldError {
  readonly path: string
  readonly message: string
  /** Of a finding in a manifest: its kind, and its place in the text, 1-based. */
  readonly id?: string
  readonly line?: number
  readonly column?: number
}

interface ErrorExtras {
  readonly errors?: readonly FieldError[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** The error of this package: a code of the table, a message, and the fields that are wrong. */
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

/** FORBIDDEN, for a caller without one of the roles. */
export function onlyFor(roles: readonly string[], role: string | null): PlatformError {
  const needed = roles.join(', ').replace(/, (?=[^,]*$)/, ' or ')
  const own = role === null ? 'you are not a member of this workspace' : `your role in this workspace is ${role}`
  return new PlatformError('FORBIDDEN', `this needs the role ${needed}: ${own}`)
}

/** INVALID_TRANSITION, which names the state of the thing, such as "an offer", and those from which the move is possible. */
export function invalidTransition(
  move: string,
  thing: string,
  state: string,
  from: readonly string[],
  remedy?: string,
): PlatformError {
  const states = from.map((one) => `\`${one}\``).join(' or ')
  const detail = `cannot ${move} ${thing} that is \`${state}\`: its state must be ${states}`
  return new PlatformError('INVALID_TRANSITION', remedy === undefined ? detail : `${detail}; ${remedy}`)
}

/** INVALID, with every field that is wrong. */
export function invalid(errors: readonly FieldError[]): PlatformError {
  return new PlatformError('INVALID', problemSummary(errors), { errors })
}
