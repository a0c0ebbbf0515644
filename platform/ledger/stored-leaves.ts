// Leaves with everything that is stored of them.
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'

export interface FullLeaf {
  readonly log_index: number
  readonly leaf_hash: string
  /** Null when the record was deleted; `salts` and `body` are null when they were erased or deleted. */
  readonly record: string | null
  readonly salts: string | null
  readonly body: string | null
}

/** The leaves that authorize a removal from the log (erasures and prunes), in order. */
export async function readRemovalAuthorizations(scope: Scope, tx: Transaction): Promise<FullLeaf[]> {
  return tx.query<FullLeaf>(
    `select r.log_index, r.hash as leaf_hash, r.record, r.salts, r.body from log_records r
     where r.org_id = $1 and r.type in ('erasure', 'prune') order by r.log_index`,
    [scope.org_id],
  )
}
