// OAuth endpoints take bodies as forms and have their own error format (RFC 6749 §5.2, RFC 8628 §3.5).
import type { OauthError } from '@svc/schemas'
import { type ErrorCode, invalid, type PlatformError } from '../errors.js'
import { decode } from './validate.js'

const formType = 'application/x-www-form-urlencoded'

export function isForm(content_type: string | undefined): boolean {
  return mediaTypeOf(content_type) === formType
}

export function mediaTypeOf(content_type: string | undefined): string {
  return (content_type ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? ''
}

/**
 * A form as an object. A parameter without a value counts as omitted (RFC 6749 §3.2). Throws INVALID for a parameter that is
 * sent twice, and MALFORMED for bytes that are not UTF-8.
 */
export function readForm(bytes: Uint8Array): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(decode(bytes))].filter(([, value]) => value !== '')
  const names = fields.map(([name]) => name)
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  if (twice.length > 0) throw invalid(twice.map((path) => ({ path, message: 'is sent more than once' })))
  return Object.fromEntries(fields)
}

const errors: Partial<Readonly<Record<ErrorCode, OauthError['error']>>> = {
  MALFORMED: 'invalid_request',
  INVALID: 'invalid_request',
  INVALID_GRANT: 'invalid_grant',
  UNSUPPORTED_GRANT_TYPE: 'unsupported_grant_type',
  AUTHORIZATION_PENDING: 'authorization_pending',
  SLOW_DOWN: 'slow_down',
  ACCESS_DENIED: 'access_denied',
  EXPIRED_TOKEN: 'expired_token',
}

/** The error in the format of OAuth, with status 400; null for errors that every endpoint answers as a problem, such as 429. */
export function oauthErrorOf({ code, message }: PlatformError): OauthError | null {
  const error = errors[code]
  return error === undefined ? null : { error, error_description: message }
}
