// Logging in by a device code, as any OAuth client does (RFC 8628): forms go out, `error` comes back.
import type { DeviceCode, OauthError, SessionTokens } from '@svc/schemas'
import { parsed, patience, refusal, silent } from './session.js'

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const client_id = 'svc-cli'
/** What `slow_down` adds to the interval, seconds (RFC 8628 §3.5). */
const slower = 5

interface Answer {
  readonly status: number
  readonly body: unknown
  /** Null where the answer is content; `unknown` for an error that is not OAuth's. */
  readonly error: OauthError['error'] | 'unknown' | null
}

async function post(url: string, path: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(patience),
  }).catch(silent(url))
  const body = parsed(url, await response.text())
  const error = response.ok ? null : ((body as Partial<OauthError> | null)?.error ?? 'unknown')
  return { status: response.status, body, error }
}

/** Begins to log in. Rejects where there is no platform. */
export async function beginLogin(url: string): Promise<DeviceCode> {
  const { status, body, error } = await post(url, '/auth/device/code', { client_id })
  if (status === 404) throw new Error(`${url} is not a svc platform: give the address that its start prints`)
  if (error !== null) throw rejection(status, body)
  return body as DeviceCode
}

/** Waits until a person has decided. Rejects when they refuse, or let the time pass. */
export async function awaitDecision(url: string, { device_code, interval }: DeviceCode): Promise<SessionTokens> {
  let wait = interval
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, wait * 1000))
    const { status, body, error } = await post(url, '/auth/device/token', { grant_type, device_code, client_id })
    if (error === null) return body as SessionTokens
    if (error === 'access_denied') throw new Error('refused in the browser')
    if (error === 'slow_down') wait += slower
    else if (error !== 'authorization_pending') throw rejection(status, body)
  }
}

function rejection(status: number, body: unknown): Error {
  const { error_description } = (body ?? {}) as Partial<OauthError>
  return error_description === undefined ? refusal(status, body) : new Error(error_description)
}
