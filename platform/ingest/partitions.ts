// The log's monthly partitions, asked for once a month rather than once a batch.
import type { Transaction } from '../db/db.js'
import { ensurePartitionsUnscoped } from '../ledger/log.js'

export interface Partitions {
  /** Sees to it that the partitions of that time (ms since 1970) exist when the transaction commits. */
  readonly ensure: (tx: Transaction, time: number) => Promise<void>
  /** Called when a transaction that may have made them has not been committed. */
  readonly forget: () => void
}

export function createPartitions(): Partitions {
  let ensured = ''
  return {
    ensure: async (tx, time) => {
      const month = new Date(time).toISOString().slice(0, 7)
      if (ensured === month) return
      await ensurePartitionsUnscoped(tx, time)
      ensured = month
    },
    forget: () => {
      ensured = ''
    },
  }
}
