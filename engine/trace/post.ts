// One request with a JSON body to a receiver of lines.
import { bytesOf, reasonOf, waitOf } from '../source/answer.js'
import type { Failure } from './sender.js'

export interface Receiver {
  readonly href: string
  /** Null for an address that is not the platform: it never gets the key. */
  readonly api_key: string | null
}

export interface Posting extends Receiver {
  /** Besides the type and the key. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly timeout_ms: number
  /** What the body holds, such as `incidents`. */
  readonly noun: string
}

/** The answer, or why there is none; never rejects, and reads the whole answer. No message contains the key. */
export async function post(
  { href, api_key, body, timeout_ms, noun, headers: others }: Posting,
  stopping: AbortSignal,
): Promise<{ readonly response: Response; readonly bytes: Buffer } | Failure> {
  const { origin } = new URL(href)
  const headers = {
    ...others,
    'content-type': 'application/json',
    ...(api_key !== null && { authorization: `Bearer ${api_key}` }),
  }
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeout_ms)])
    // A redirect would send the key and the lines to another address.
    const response = await fetch(href, { method: 'POST', headers, body, redirect: 'manual', signal })
    return { response, bytes: await bytesOf(response) }
  } catch (error) {
    const problem = `${noun} cannot be sent to ${origin}: ${reasonOf(error, timeout_ms)}`
    return { problem, retry_after: null, is_away: true }
  }
}

/** Null when the bytes are no JSON object. */
export function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The problem document (RFC 9457) of an answer; empty when a proxy or another server answered. */
export function problemIn(response: Response, bytes: Buffer): { readonly detail?: unknown; readonly code?: string } {
  const is_problem = /^application\/problem\+json/.test(response.headers.get('content-type') ?? '')
  const { detail, code } = (is_problem ? objectIn(bytes) : null) ?? {}
  return { detail, ...(isCode(code) && { code }) }
}

/** Codes are in messages, each of which is reported once: another server may answer any text, and another one each time. */
export function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)
}

/** Answers of a receiver, or of a proxy before it, that is starting or has gone. */
const away: ReadonlySet<number> = new Set([408, 499, 502, 503, 504])

/** Why lines are sent again after an answer with this status. */
export function failureOf(response: Response, problem: string, now: number): Failure {
  return { problem, retry_after: waitOf(response, now), is_away: away.has(response.status) }
}
