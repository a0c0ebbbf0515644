// Posting to a platform, patiently: what is sent is safe to send again.

import { printable, requestJson } from '@svc/proof'
import type { Problem } from '@svc/schemas'

export interface Refusal {
  readonly status: number
  readonly message: string
}

export type Posted<T> = { readonly answer: T; readonly refusal: null } | { readonly refusal: Refusal }

/** How long to keep trying while the platform is away, ms: a restart takes seconds. */
const patience = 120_000
/** How long an answer may take, ms. */
const answerTime = 60_000
/** Waiting longer than this, ms, is worth a word. */
const silence = 3000

/**
 * The first answer that is accepted, or the platform's refusal. 429, 503, a broken connection and an answer that is not
 * accepted are tried again, not before a Retry-After. Rejects when the platform stays away.
 */
export async function postJson<T>(
  url: string,
  api_key: string,
  body: unknown,
  accept: (answer: T) => boolean = () => true,
): Promise<Posted<T>> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: requestJson(body), redirect: 'manual' } as const
  let since = Date.now()
  for (let attempt = 0; ; attempt++) {
    const { status, text, retry_after } = await tryOnce(url, request)
    const ok = status >= 200 && status < 300
    const answer = ok ? parsed<T>(text) : null
    if (answer !== null && accept(answer)) return { answer, refusal: null }
    if (status !== 0 && !ok && status !== 429 && status !== 503) {
      return { refusal: { status, message: `${url} answered ${status}: ${printable(detailOf(text))}` } }
    }
    const reason = status === 0 ? text : `status ${status}`
    // A platform that asks for patience is there.
    if (status === 429) since = Date.now()
    if (Date.now() - since > patience) throw new Error(`${url} does not answer: ${reason}`)
    const wait = Math.max(retry_after, Math.min(5000, 100 * 2 ** attempt))
    const left = Math.ceil((since + patience - Date.now()) / 1000)
    if (wait > silence)
      process.stderr.write(`${url}: ${reason}; trying again in ${Math.ceil(wait / 1000)} s, for ${left} s more\n`)
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

interface Attempt {
  /** 0 when there was no complete answer; `text` then says why. */
  readonly status: number
  readonly text: string
  /** ms the platform asks to be left alone. */
  readonly retry_after: number
}

async function tryOnce(url: string, request: RequestInit): Promise<Attempt> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(answerTime) })
    const retry_after = waitOf(response.headers.get('retry-after'))
    return { status: response.status, text: await response.text(), retry_after }
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    return { status: 0, text: cause?.code ?? message, retry_after: 0 }
  }
}

/** Seconds or a date (RFC 9110 §10.2.3), as ms from now; 0 for anything else. */
function waitOf(header: string | null): number {
  if (header === null) return 0
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), longestWait) : 0
}

/** ms; what a header asks for beyond this is a mistake. */
const longestWait = 3_600_000

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T
  } catch {
    return null
  }
}

function detailOf(text: string): string {
  const { detail, errors = [] } = parsed<Partial<Problem>>(text) ?? {}
  const [first] = errors
  return detail ?? (first === undefined ? 'no reason given' : `\`${first.path}\` ${first.message}`)
}
