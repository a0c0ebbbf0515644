// How often something may be asked of one process: a bucket for each asker that fills again with time. Limits that guard secrets
// are shared by all processes instead (shared-limits.ts).
import { PlatformError } from '../errors.js'

export interface Limit {
  /** Takes one; throws RATE_LIMITED, saying when to come back, where there is none left. */
  readonly take: (asker: string) => void
  /** Takes one; false where there is none left. */
  readonly has: (asker: string) => boolean
}

/** Askers that are remembered; beyond that the longest silent are forgotten, who by then have a full bucket or nearly. */
const mostAskers = 50_000

/** `count` at once, and as many again in every `seconds`; 0 sets no limit. `clock`: ms since 1970. */
export function createLimit(count: number, seconds: number, clock: () => number): Limit {
  if (count === 0) return { take: () => undefined, has: () => true }
  const buckets = new Map<string, { left: number; at: number }>()
  const perMs = count / (seconds * 1000)
  /** Takes one; ms to wait where there is none. */
  const taken = (asker: string): number => {
    const now = clock()
    const known = buckets.get(asker) ?? { left: count, at: now }
    const left = Math.min(count, known.left + (now - known.at) * perMs)
    if (left < 1) return (1 - left) / perMs
    buckets.delete(asker)
    buckets.set(asker, { left: left - 1, at: now })
    if (buckets.size > mostAskers) buckets.delete(buckets.keys().next().value as string)
    return 0
  }
  return {
    has: (asker) => taken(asker) === 0,
    take: (asker) => {
      const wait = taken(asker)
      if (wait > 0) throw tooOften(wait)
    },
  }
}

/** RATE_LIMITED, for somebody who may come back after so many ms. */
export function tooOften(wait: number): PlatformError {
  const seconds = Math.ceil(wait / 1000)
  return new PlatformError('RATE_LIMITED', `too often: come back in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
