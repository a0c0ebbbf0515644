// Limits that guard secrets: counted in the database, so that all processes share one limit.

import { type Database, withUnscopedTransaction } from '../db/db.js'
import { type CountedLimit, countAttemptUnscoped, forgetAttemptsUnscoped } from './attempts-store.js'
import { rateLimited } from './limits.js'

export interface SharedLimit {
  /** Counts an attempt. Rejects with RATE_LIMITED and the time to wait when the limit is reached. */
  readonly take: (caller: string) => Promise<void>
  /**
   * Runs an attempt, and counts it if it returns null. Rejects with RATE_LIMITED when the limit is reached, without running the
   * attempt if this process already knows it.
   */
  readonly guard: <T>(caller: string, attempt: () => Promise<T | null>) => Promise<T | null>
}

/** Creates a limit; `count` 0 sets none. */
type SharedLimits = (name: string, count: number, seconds: number) => SharedLimit

/** The maximum number of blocked callers in memory; a forgotten one costs a statement and is blocked again. */
const maxBlocked = 50_000
const cleanupIntervalMs = 60_000
const retentionMs = 3_600_000

/** `clock`: ms since 1970. */
export function createSharedLimits(db: Database, clock: () => number): SharedLimits {
  let cleaned_at = clock()
  const count = (limit: CountedLimit, caller: string) =>
    withUnscopedTransaction(db, async (tx) => {
      const now = clock()
      const wait = await countAttemptUnscoped(tx, now, limit, caller)
      if (now - cleaned_at >= cleanupIntervalMs) {
        cleaned_at = now
        await forgetAttemptsUnscoped(tx, now - retentionMs)
      }
      return wait
    })
  return (name, max, seconds) =>
    max === 0 ? unlimited : sharedLimit(clock, (caller) => count({ name, count: max, seconds }, caller))
}

const unlimited: SharedLimit = { take: async () => undefined, guard: (_, attempt) => attempt() }

/** `count` returns the ms to wait. */
function sharedLimit(clock: () => number, count: (caller: string) => Promise<number>): SharedLimit {
  const blocked_until = new Map<string, number>()
  const running = new Map<string, Promise<unknown>>()

  const assertOpen = (caller: string) => {
    const until = blocked_until.get(caller)
    if (until === undefined) return
    if (until > clock()) throw rateLimited(until - clock())
    blocked_until.delete(caller)
  }
  const counted = async (caller: string) => {
    assertOpen(caller)
    const wait = await count(caller)
    if (wait === 0) return
    const [oldest = caller] = blocked_until.keys()
    if (blocked_until.size >= maxBlocked) blocked_until.delete(oldest)
    blocked_until.set(caller, clock() + wait)
    throw rateLimited(wait)
  }
  // INVARIANT (one connection per caller): many attempts of one caller wait here, and not for the database.
  const inOrder = async <T>(caller: string, work: () => Promise<T>): Promise<T> => {
    assertOpen(caller)
    const last = running.get(caller) ?? Promise.resolve()
    const run = last.catch(() => undefined).then(work)
    running.set(caller, run)
    try {
      return await run
    } finally {
      if (running.get(caller) === run) running.delete(caller)
    }
  }
  return {
    take: (caller) => inOrder(caller, () => counted(caller)),
    guard: (caller, attempt) =>
      inOrder(caller, async () => {
        assertOpen(caller)
        const result = await attempt()
        if (result === null) await counted(caller)
        return result
      }),
  }
}
