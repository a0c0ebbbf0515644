// Writes the progress of a run at most once a second, and learns that the run has been replaced or its report deleted.
import { type Resources, withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { type Run, recordProgress } from './store/runs.js'

interface ProgressRecord {
  readonly progress: (share: number) => void
  /** Resolves when no write is in progress; later progress is not written. */
  readonly close: () => Promise<void>
}

const intervalMs = 1000

/** `replaced` is called when the run may stop. */
export function createProgressRecord(
  { db, clock }: Resources,
  scope: Scope,
  run: Run,
  replaced: () => void,
): ProgressRecord {
  let written_at = Number.NEGATIVE_INFINITY
  let writing: Promise<void> | null = null
  let isClosed = false
  const write = async (share: number) => {
    if (!(await withTransaction(db, scope, (tx) => recordProgress(scope, tx, run, share)))) replaced()
  }
  return {
    progress: (share) => {
      if (isClosed || writing !== null || clock() - written_at < intervalMs) return
      written_at = clock()
      // Without a database the run itself fails soon.
      writing = write(Math.min(1, Math.max(0, share)))
        .catch(() => undefined)
        .finally(() => {
          writing = null
        })
    },
    close: async () => {
      isClosed = true
      await writing
    },
  }
}
