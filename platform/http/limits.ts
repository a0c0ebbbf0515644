// Rate limits of one process: a token bucket per caller. Limits that guard secrets are shared by all processes instead
// (shared-limits.ts).
import { PlatformError } from '../errors.js'

export interface Limit {
  /** Takes a token. Throws RATE_LIMITED with the time to wait when the bucket is empty. */
  readonly take: (caller: string) => void
  /** Takes a token; false when the bucket is empty. */
  readonly has: (caller: string) => boolean
}

/** Beyond this many callers the longest idle one is forgotten: its bucket is nearly full by then. */
const maxCallers = 50_000

/** A bucket of `count` tokens that fills in `seconds`; 0 sets no limit. `clock`: ms since 1970. */
export function createLimit(count: number, seconds: number, clock: () => number): Limit {
  if (count === 0) return { take: () => undefined, has: () => true }
  const buckets = new Map<string, { left: number; at: number }>()
  const perMs = count / (seconds * 1000)
  /** Takes a token; if the bucket is empty, returns the ms to wait. */
  const taken = (caller: string): number => {
    const now = clock()
    const known = buckets.get(caller) ?? { left: count, at: now }
    const left = Math.min(count, known.left + (now - known.at) * perMs)
    if (left < 1) return (1 - left) / perMs
    buckets.delete(caller)
    buckets.set(caller, { left: left - 1, at: now })
    const [oldest = caller] = buckets.keys()
    if (buckets.size > maxCallers) buckets.delete(oldest)
    return 0
  }
  return {
    has: (caller) => taken(caller) === 0,
    take: (caller) => {
      const wait = taken(caller)
      if (wait > 0) throw rateLimited(wait)
    },
  }
}

/** RATE_LIMITED; `wait` is the time to wait, ms. */
export function rateLimited(wait: number): PlatformError {
  const seconds = Math.ceil(wait / 1000)
  return new PlatformError('RATE_LIMITED', `too many requests: retry in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
