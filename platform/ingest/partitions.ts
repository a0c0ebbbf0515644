// Creates the log's monthly partitions: one statement per month, not per batch.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import { ensurePartitionsUnscoped } from '../ledger/log.js'

export interface Partitions {
  /** Creates the partitions of that time (ms since 1970) unless they exist. */
  readonly ensure: (tx: Transaction, time: number) => Promise<void>
  /** Called when a transaction that may have created partitions was not committed. */
  readonly forget: () => void
}

export function createPartitions(): Partitions {
  let ensured = ''
  return {
    ensure: async (tx, time) => {
      const month = isoTime(time).slice(0, 7)
      if (ensured === month) return
      await ensurePartitionsUnscoped(tx, time)
      ensured = month
    },
    forget: () => {
      ensured = ''
    },
  }
}
