// One request with a JSON body to a receiver of lines.
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

/** Larger answers are not read: no receiver has that much to say about one request. */
const maxAnswerBytes = 16 * 1024 * 1024

async function bytesOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error('the answer is larger than 16 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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

/** Seconds, or a date (RFC 9110 §10.2.3), as ms from now. */
export function waitOf(response: Response, now: number): number | null {
  const header = response.headers.get('retry-after') ?? ''
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return wait > 0 ? wait : null
}

/** The cause of a failed fetch has more detail than its message. */
function reasonOf(error: unknown, timeout_ms: number): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `no answer within ${timeout_ms / 1000} s`
  return cause?.code ?? cause?.message ?? message
}

/** Answers of a receiver, or of a proxy before it, that is starting or has gone. */
const away: ReadonlySet<number> = new Set([408, 499, 502, 503, 504])

/** Why lines are sent again after an answer with this status. */
export function failureOf(response: Response, problem: string, now: number): Failure {
  return { problem, retry_after: waitOf(response, now), is_away: away.has(response.status) }
}
