// The consequence of an attempt for its delivery and for its receiver (docs/design/platform.md §8).

/** The end of an attempt. */
export type Attempt =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The header Retry-After, in seconds; null without it. */
      readonly retry_after: number | null
    }
  /** The receiver, or the way to it, is not there: other deliveries to it would fail as well. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** This delivery cannot be sent as it is. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The process stops: nothing is known of the attempt. */
  | { readonly kind: 'interrupted' }

export interface Outcome {
  /** `gone`: the receiver asks for no more deliveries. */
  readonly verdict: 'delivered' | 'failed' | 'unreachable' | 'gone' | 'interrupted'
  readonly status: number | null
  /** Why it failed and what to do; null for a delivered one. */
  readonly error: string | null
  /** The minimum seconds until the next attempt, as the receiver asks. */
  readonly retry_after: number
}

export function outcomeOf(attempt: Attempt): Outcome {
  if (attempt.kind === 'interrupted') return { verdict: 'interrupted', status: null, error: null, retry_after: 0 }
  if (attempt.kind !== 'answered') {
    const verdict = attempt.kind === 'unreachable' ? 'unreachable' : 'failed'
    return { verdict, status: null, error: attempt.reason, retry_after: 0 }
  }
  const { status, retry_after } = attempt
  const verdict = verdictOf(status)
  if (verdict === 'delivered') return { verdict, status, error: null, retry_after: 0 }
  const error = `the receiver answered ${status}: ${remedyFor(status)}`
  return { verdict, status, error, retry_after: verdict === 'unreachable' ? (retry_after ?? 0) : 0 }
}

/** With these, the receiver takes no delivery for a while. */
const unavailable: readonly number[] = [429, 502, 503, 504]

function verdictOf(status: number): Outcome['verdict'] {
  if (status >= 200 && status < 300) return 'delivered'
  if (status === 410) return 'gone'
  return unavailable.includes(status) ? 'unreachable' : 'failed'
}

function remedyFor(status: number): string {
  if (status >= 300 && status < 400) return 'redirects are not followed, so set `config.url` to the final address'
  if (status === 401 || status === 403) return 'check that the address is right and that the receiver knows the secret'
  if (status === 404 || status === 405) return 'check that `config.url` is the address that takes POST requests'
  if (status === 410) return 'it wants no more deliveries, so the action is disabled'
  if (status === 413) return 'let it accept bodies of 1 MiB'
  if (status === 429) return 'it limits the rate, and is tried again later'
  return status >= 500 ? 'see its log; it is tried again' : 'it rejects this delivery; see its log'
}

/** The time in which a delivery is tried after its first attempt, ms. */
export const maxRetryMs = 24 * 3_600_000
const baseMs = 5000
/** The longest delay of a delivery that its receiver rejects, and of one without a receiver: a receiver that is back is noticed soon. */
const longMs = { delivery: 3_600_000, receiver: 600_000 }

/**
 * The delay after so many failures in a row: 5 s, then twice as long each time, up to an hour (a receiver that cannot be reached:
 * ten minutes), and at least what the receiver asks for. `random`, from 0 to before 1, spreads it by a fifth.
 */
export function delayAfter(of: 'delivery' | 'receiver', failures: number, retry_after: number, random: number): number {
  const doubled = baseMs * 2 ** Math.min(30, Math.max(0, failures - 1))
  const spread = Math.min(longMs[of], doubled) * (0.8 + 0.4 * random)
  return Math.round(Math.max(spread, Math.min(maxRetryMs, retry_after * 1000)))
}

/** Times are ms since 1970. */
export interface Tried {
  readonly attempts: number
  readonly give_up_at: number | null
  readonly next_attempt_at: number
}

type NextState =
  | { readonly state: 'delivered' | 'dead' }
  | { readonly state: 'pending'; readonly next_attempt_at: number; readonly give_up_at: number | null }

/** The state of a delivery after an attempt. The last attempt is made when the time is up. */
export function nextState(
  { attempts, give_up_at, next_attempt_at }: Tried,
  outcome: Outcome,
  now: number,
  random: number,
) {
  const { verdict, retry_after } = outcome
  const end = give_up_at ?? now + maxRetryMs
  if (verdict === 'delivered') return { state: 'delivered' } satisfies NextState
  if (verdict === 'interrupted') return { state: 'pending', next_attempt_at, give_up_at } satisfies NextState
  if (verdict === 'gone' || now >= end) return { state: 'dead' } satisfies NextState
  // Without a receiver, the delivery stays due: it waits for the receiver like all others.
  if (verdict === 'unreachable') return { state: 'pending', next_attempt_at, give_up_at: end } satisfies NextState
  const next = Math.min(end, now + delayAfter('delivery', attempts, retry_after, random))
  return { state: 'pending', next_attempt_at: next, give_up_at: end } satisfies NextState
}

/** The receiver after attempts at once: it can be reached if one of them reached it. */
export function receiverAfter(
  { failures }: { readonly failures: number },
  outcomes: readonly Outcome[],
  now: number,
  random: number,
) {
  const known = outcomes.filter(({ verdict }) => verdict !== 'interrupted')
  if (known.length === 0) return null
  if (known.some(({ verdict }) => verdict !== 'unreachable')) return { failures: 0, retry_at: null, error: null }
  const retry_after = Math.max(...known.map((one) => one.retry_after))
  const count = failures + 1
  const retry_at = now + delayAfter('receiver', count, retry_after, random)
  return { failures: count, retry_at, error: known.at(-1)?.error ?? null }
}

/** The seconds of a header Retry-After (RFC 9110 §10.2.3): a number, or a date. Null for anything else. */
export function retryAfterOf(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text.trim())) return Number(text)
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000))
}
