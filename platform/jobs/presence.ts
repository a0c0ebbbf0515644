// The processes that are alive. Jobs that a killed process ran start again on another one.
import { type Database, withUnscopedTransaction } from '../db/db.js'
import { beatUnscoped, forgetOthersUnscoped, forgetProcessUnscoped, forgetSilentUnscoped } from './jobs-store.js'

interface Presence {
  /** Says that this process is alive. No other one uses an embedded database: jobs of others start again. Rejects with UNAVAILABLE. */
  readonly begin: () => Promise<void>
  /** The same on a server, where jobs of processes that are silent start again. Rejects with UNAVAILABLE. */
  readonly beat: () => Promise<void>
  /** For a process whose jobs have ended. Rejects with UNAVAILABLE. */
  readonly end: () => Promise<void>
}

/** A process that is silent for `unseen` ms is taken for killed. `now` in ms, from any start. */
export function createPresence(db: Database, process_id: string, unseen: number, now: () => number): Presence {
  const isEmbedded = db.kind === 'pglite'
  let since = now()
  let last = since
  return {
    begin: () =>
      withUnscopedTransaction(db, async (tx) => {
        await beatUnscoped(tx, process_id)
        if (isEmbedded) await forgetOthersUnscoped(tx, process_id)
      }),
    beat: async () => {
      if (isEmbedded) return
      const at = now()
      // After an outage of the database every process was silent: the others need time to say that they are alive.
      if (at - last > unseen / 2) since = at
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
