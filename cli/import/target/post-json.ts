// Requests to a platform with retries: the same content can be sent again.
import { parseJson, printable, requestJson } from '@svc/proof'
import type { Problem } from '@svc/schemas'

/** A platform. */
export interface Endpoint {
  /** Without a trailing slash. */
  readonly url: string
  readonly api_key: string
  /** Shows a line to the person who waits. */
  readonly report: (text: string) => void
}

export interface Rejection {
  readonly status: number
  readonly message: string
}

export type Posted<T> = { readonly answer: T; readonly rejection: null } | { readonly rejection: Rejection }

/** Retries end after this time without an answer, ms; a restart takes seconds. */
const retryTimeoutMs = 120_000
const answerTimeoutMs = 60_000
/** A longer wait is reported, ms. */
const quietWaitMs = 3000

/**
 * The first accepted answer, or the rejection of the platform. 429, 503, a broken connection and an answer that `accept`
 * rejects are retried after Retry-After at the earliest. Rejects when the platform stays unavailable.
 */
export async function postJson<T>(
  { url: platform, api_key, report }: Endpoint,
  path: string,
  body: unknown,
  accept: (answer: T) => boolean = () => true,
): Promise<Posted<T>> {
  const url = `${platform}${path}`
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: requestJson(body), redirect: 'manual' } as const
  let since = Date.now()
  for (let attempt = 0; ; attempt++) {
    const { status, text, retry_after_ms } = await tryOnce(url, request)
    const ok = status >= 200 && status < 300
    const answer = ok ? parseAnswer<T>(text) : null
    if (answer !== null && accept(answer)) return { answer, rejection: null }
    if (status !== 0 && !ok && status !== 429 && status !== 503) {
      return { rejection: { status, message: `${url} answered ${status}: ${printable(detailOf(text))}` } }
    }
    const reason = status === 0 ? text : `status ${status}`
    // A platform that limits the rate is available.
    if (status === 429) since = Date.now()
    if (Date.now() - since > retryTimeoutMs) throw new Error(`${url} does not answer: ${reason}`)
    const wait = Math.max(retry_after_ms, Math.min(5000, 100 * 2 ** attempt))
    const left = Math.ceil((since + retryTimeoutMs - Date.now()) / 1000)
    if (wait > quietWaitMs) report(`${url}: ${reason}; trying again in ${Math.ceil(wait / 1000)} s, for ${left} s more`)
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

interface Attempt {
  /** 0 without a complete answer; `text` then has the reason. */
  readonly status: number
  readonly text: string
  readonly retry_after_ms: number
}

async function tryOnce(url: string, request: RequestInit): Promise<Attempt> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(answerTimeoutMs) })
    const retry_after_ms = retryAfterMs(response.headers.get('retry-after'))
    return { status: response.status, text: await response.text(), retry_after_ms }
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    return { status: 0, text: cause?.code ?? message, retry_after_ms: 0 }
  }
}

/** Seconds or a date (RFC 9110 §10.2.3), as ms from now; 0 for anything else. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), maxRetryAfterMs) : 0
}

/** A longer Retry-After is a mistake. */
const maxRetryAfterMs = 3_600_000

function parseAnswer<T>(text: string): T | null {
  try {
    return parseJson(text) as T
  } catch {
    return null
  }
}

function detailOf(text: string): string {
  const { detail, errors = [] } = parseAnswer<Partial<Problem>>(text) ?? {}
  const [first] = errors
  return detail ?? (first === undefined ? 'no reason given' : `\`${first.path}\` ${first.message}`)
}
