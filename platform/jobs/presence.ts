// Which processes are alive. Jobs that a killed process ran start again on another one.
import { type Database, withUnscopedTransaction } from '../db/db.js'
import { beatUnscoped, forgetProcessUnscoped, forgetSilentUnscoped } from './jobs-store.js'

export interface Presence {
  /** Says that this process is alive, and lets the jobs of those start again that are not. Rejects with UNAVAILABLE. */
  readonly beat: () => Promise<void>
  /** For a process whose jobs have ended. Rejects with UNAVAILABLE. */
  readonly end: () => Promise<void>
}

/** A process that is silent for `unseen` ms is taken for killed. `now` in ms, from any start. */
export function createPresence(db: Database, process_id: string, unseen: number, now: () => number): Presence {
  let since: number | null = null
  let last = 0
  return {
    beat: async () => {
      const at = now()
      // After an outage of the database every process was silent: the others need time to say that they are alive.
      if (since === null || at - last > unseen / 2) since = at
      const isSettled = at - since > unseen
      await withUnscopedTransaction(db, async (tx) => {
        await beatUnscoped(tx, process_id)
        if (isSettled) await forgetSilentUnscoped(tx, unseen)
      })
      last = now()
    },
    end: () => withUnscopedTransaction(db, (tx) => forgetProcessUnscoped(tx, process_id)),
  }
}
