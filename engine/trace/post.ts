// One request with a JSON body to a receiver of lines. It is made with node:http, whose requests write their body in pieces under a
// known length; `fetch` copies a body several times at once.
import { request as requestHttp } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { versionOf } from '@svc/schemas'
import { bytesOf, reasonOf, waitOf } from '../source/answer.js'
import { sizeOf, writeParts } from './body.js'
import type { Failure } from './sender.js'

export interface Receiver {
  readonly href: string
  /** Null for an address that is not the platform: it never gets the key. */
  readonly api_key: string | null
}

export interface Posting extends Receiver {
  /** Besides the type and the key. */
  readonly headers?: Readonly<Record<string, string>>
  /** The parts of the body, one after the other. */
  readonly body: readonly Buffer[]
  readonly timeout_ms: number
  /** What the body holds, such as `incidents`. */
  readonly noun: string
}

export interface Answer {
  readonly status: number
  readonly headers: { readonly get: (name: string) => string | null }
  readonly bytes: Buffer
}

/** The answer, or why there is none; never rejects, and reads the whole answer. No message contains the key. */
export async function post(posting: Posting, stopping: AbortSignal): Promise<Answer | Failure> {
  const { href, timeout_ms, noun } = posting
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeout_ms)])
    // A redirect would send the key and the lines to another address.
    const response = await fetch(href, { method: 'POST', headers, body, redirect: 'manual', signal })
    return { response, bytes: withoutSecrets(await bytesOf(response), { ...others, api_key }) }
  } catch (error) {
    const problem = `${noun} cannot be sent to ${new URL(href).origin}: ${reasonOf(error, timeout_ms)}`
    return { problem, retry_after: null, is_away: true }
  }
}

/** An answer may quote the request, and parts of answers are reported. */
function withoutSecrets(bytes: Buffer, values: Readonly<Record<string, string | null>>): Buffer {
  const found = Object.values(values).filter((value): value is string => value !== null && bytes.includes(value))
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
    const value: unknown = JSON.parse(bytes.toString())
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
export function isPage({ headers }: Response): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '')
}

/** Codes are in messages, each of which is reported once: another server may answer any text, and another one each time. */
export function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)
}

/** Answers of a receiver, or of a proxy before it, that is starting or has gone. */
const away: ReadonlySet<number> = new Set([408, 499, 502, 503, 504])

/** Why lines are sent again after this answer. */
export function failureOf(answer: Answer, problem: string, now: number): Failure {
  return { problem, retry_after: waitOf(answer, now), is_away: away.has(answer.status) }
}
