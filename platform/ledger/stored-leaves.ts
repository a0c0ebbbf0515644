// Leaves with all that is stored of them.
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'

export interface StoredLeafWhole {
  readonly log_index: number
  readonly leaf_hash: string
  /** Null when it is gone, as are the others. */
  readonly record: string | null
  readonly salts: string | null
  readonly body: string | null
}

/** The leaves that say what was removed from the log, in order. */
export async function readRemovals(scope: Scope, tx: Transaction): Promise<StoredLeafWhole[]> {
  return tx.query<StoredLeafWhole>(
    `select r.log_index, r.hash as leaf_hash, r.record, r.salts, r.body from log_records r
     where r.org_id = $1 and r.type in ('erasure', 'prune') order by r.log_index`,
    [scope.org_id],
  )
}
