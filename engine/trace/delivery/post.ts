// One request with a JSON body to a receiver of lines.
import { parseJson } from '@svc/proof'
import { versionOf } from '@svc/schemas'
import { bytesOf, reasonOf, waitOf, withinTime } from '../../source/answer.js'
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
  /** The content of the body, such as `incidents`. */
  readonly noun: string
}

export interface Answer {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly bytes: Buffer
}

/** The answer, or why there is none; never rejects, and reads the whole answer. No message contains the key. */
export async function post(posting: Posting, stopping: AbortSignal): Promise<Answer | Failure> {
  const { href, timeout_ms, noun } = posting
  try {
    return await withinTime(timeout_ms, stopping, async (signal) => {
      const { status, headers, body } = await answerTo(posting, signal)
      return { status, headers, bytes: withoutSecrets(await bytesOf({ body }), posting) }
    })
  } catch (error) {
    const problem = `${noun} cannot be sent to ${new URL(href).origin}: ${reasonOf(error, timeout_ms)}`
    return { problem, retry_after: null, is_away: true }
  }
}

/** Errors of a connection that the receiver has closed. */
const closed: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

async function answerTo({ href, api_key, headers, body }: Posting, signal: AbortSignal) {
  const authorization = api_key !== null && { authorization: `Bearer ${api_key}` }
  const common = { 'user-agent': `svc/${versionOf('engine')}`, ...headers, 'content-type': 'application/json' }
  // A redirect would send the key and the lines to another address.
  const init = { method: 'POST', headers: { ...common, ...authorization }, body, redirect: 'manual', signal } as const
  try {
    return await fetch(href, init)
  } catch (error) {
    // A receiver may close a connection that was idle at the moment of the request. Sending lines again adds nothing.
    if (signal.aborted || !closed.has((error as { cause?: { code?: unknown } }).cause?.code)) throw error
    return fetch(href, init)
  }
}

/** True for the answers of success. */
export function isTaken({ status }: Answer): boolean {
  return status >= 200 && status < 300
}

/** An answer may quote the request, and parts of answers are reported. */
function withoutSecrets(bytes: Buffer, { headers, api_key }: Posting): Buffer {
  const values = [...Object.values(headers ?? {}), api_key]
  const found = values.filter((value): value is string => value !== null && bytes.includes(value))
  const secrets = found.filter((value) => value.length >= minSecretLength)
  return secrets.length === 0
    ? bytes
    : Buffer.from(secrets.reduce((text, one) => text.replaceAll(one, '…'), `${bytes}`))
}

/** A shorter value, such as a name of a tenant, is in other words as well. */
const minSecretLength = 8

/** Null when the bytes are no JSON object. */
export function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(bytes.toString())
    return typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The problem document (RFC 9457) of an answer; empty when a proxy or another server answered. */
export function problemIn({ headers, bytes }: Answer): { readonly detail?: unknown; readonly code?: string } {
  const is_problem = /^application\/problem\+json/.test(headers.get('content-type') ?? '')
  const { detail, code } = (is_problem ? objectIn(bytes) : null) ?? {}
  return { detail, ...(isCode(code) && { code }) }
}

/** A page for people: a proxy or a login answered, and the lines went nowhere. */
export function isPage({ headers }: Answer): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '')
}

/** Codes are in messages, each of which is reported once: another server may answer any text, and another one each time. */
function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)
}

/** Answers of a receiver, or of a proxy before it, that is starting or has gone. */
const away: ReadonlySet<number> = new Set([408, 499, 502, 503, 504])

/** The answer of a platform for one line. */
export interface LineResult {
  readonly status: number
  /** With a space before it, for messages; empty without one. */
  readonly code: string
  readonly detail: string
}

/** Null for a value that is not such a result. */
export function resultIn(value: unknown): LineResult | null {
  const { status, problem } = Object(value) as { status?: unknown; problem?: unknown }
  const { code, detail } = Object(problem) as { code?: unknown; detail?: unknown }
  return typeof status === 'number' ? { status, code: isCode(code) ? ` ${code}` : '', detail: textOf(detail) } : null
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The reason why lines are sent again after this answer. */
export function failureOf(answer: Answer, problem: string, now: number): Failure {
  return { problem, retry_after: waitOf(answer, now), is_away: away.has(answer.status) }
}
