// Login with a device code, as any OAuth client does it (RFC 8628).
import type { DeviceCode, OauthError, SessionTokens } from '@svc/schemas'
import { answerTimeoutMs, parseAnswer, platformError, rejectUnreachable } from './session.js'

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const client_id = 'svc-cli'
/** `slow_down` adds this to the interval, seconds (RFC 8628 §3.5). */
const slowDownSeconds = 5

interface Answer {
  readonly status: number
  readonly body: unknown
  /** Null for a success; `unknown` for an error that is not OAuth's. */
  readonly error: OauthError['error'] | 'unknown' | null
}

async function post(url: string, path: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(answerTimeoutMs),
  }).catch(rejectUnreachable(url))
  const body = parseAnswer(url, await response.text())
  const error = response.ok ? null : ((body as Partial<OauthError> | null)?.error ?? 'unknown')
  return { status: response.status, body, error }
}

/** Starts a login. Rejects when the address is not a platform. */
export async function beginLogin(url: string): Promise<DeviceCode> {
  const { status, body, error } = await post(url, '/auth/device/code', { client_id })
  if (status === 404)
    throw new Error(`${url} is not a svc platform: give the address that \`svc-platform start\` prints`)
  if (error !== null) throw loginError(status, body)
  return body as DeviceCode
}

/** Waits for the decision of the person. Rejects when they deny it or the code expires. */
export async function awaitDecision(url: string, { device_code, interval }: DeviceCode): Promise<SessionTokens> {
  let wait = interval
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, wait * 1000))
    const { status, body, error } = await post(url, '/auth/device/token', { grant_type, device_code, client_id })
    if (error === null) return body as SessionTokens
    if (error === 'access_denied') throw new Error('the login was denied in the browser')
    if (error === 'slow_down') wait += slowDownSeconds
    else if (error !== 'authorization_pending') throw loginError(status, body)
  }
}

function loginError(status: number, body: unknown): Error {
  const { error_description } = (body ?? {}) as Partial<OauthError>
  return error_description === undefined ? platformError(status, body) : new Error(error_description)
}
