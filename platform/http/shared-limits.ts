// Limits that guard secrets: counted in the database, so that all processes together allow what one would.

import { type Database, withUnscopedTransaction } from '../db/db.js'
import { type CountedLimit, countAttemptUnscoped, forgetAttemptsUnscoped } from './attempts-store.js'
import { tooOften } from './limits.js'

export interface SharedLimit {
  /** Counts one; rejects with RATE_LIMITED, with the time to wait, where there is none left. */
  readonly take: (asker: string) => Promise<void>
  /**
   * Lets an asker try a secret, and counts the attempt if it returns null. Rejects with RATE_LIMITED, without trying where this
   * process knows that there is none left.
   */
  readonly guard: <T>(asker: string, attempt: () => Promise<T | null>) => Promise<T | null>
}

/** Makes one limit; `count` 0 sets none. */
export type SharedLimits = (name: string, count: number, seconds: number) => SharedLimit

/** Askers that are remembered as refused; a forgotten one costs a statement and is refused again. */
const maxRefused = 50_000
/** ms. */
const forgetEvery = 60_000
const forgetAfter = 3_600_000

/** `clock`: ms since 1970. */
export function createSharedLimits(db: Database, clock: () => number): SharedLimits {
  let forgotten_at = clock()
  const count = (limit: CountedLimit, asker: string) =>
    withUnscopedTransaction(db, async (tx) => {
      const now = clock()
      const wait = await countAttemptUnscoped(tx, now, limit, asker)
      if (now - forgotten_at >= forgetEvery) {
        forgotten_at = now
        await forgetAttemptsUnscoped(tx, now - forgetAfter)
      }
      return wait
    })
  return (name, most, seconds) =>
    most === 0 ? unlimited : sharedLimit(clock, (asker) => count({ name, count: most, seconds }, asker))
}

const unlimited: SharedLimit = { take: async () => undefined, guard: (_, attempt) => attempt() }

/** `count` returns the ms to wait. */
function sharedLimit(clock: () => number, count: (asker: string) => Promise<number>): SharedLimit {
  const refused_until = new Map<string, number>()
  const running = new Map<string, Promise<unknown>>()

  const assertOpen = (asker: string) => {
    const until = refused_until.get(asker)
    if (until === undefined) return
    if (until > clock()) throw tooOften(until - clock())
    refused_until.delete(asker)
  }
  const counted = async (asker: string) => {
    assertOpen(asker)
    const wait = await count(asker)
    if (wait === 0) return
    if (refused_until.size >= maxRefused) refused_until.delete(refused_until.keys().next().value as string)
    refused_until.set(asker, clock() + wait)
    throw tooOften(wait)
  }
  // INVARIANT (one connection per asker): a flood of attempts from one asker waits here, and not for the database.
  const inTurn = async <T>(asker: string, work: () => Promise<T>): Promise<T> => {
    assertOpen(asker)
    const before = running.get(asker) ?? Promise.resolve()
    const turn = before.catch(() => undefined).then(work)
    running.set(asker, turn)
    try {
      return await turn
    } finally {
      if (running.get(asker) === turn) running.delete(asker)
    }
  }
  return {
    take: (asker) => inTurn(asker, () => counted(asker)),
    guard: (asker, attempt) =>
      inTurn(asker, async () => {
        assertOpen(asker)
        const result = await attempt()
        if (result === null) await counted(asker)
        return result
      }),
  }
}
