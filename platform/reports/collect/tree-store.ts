// Reads the tree of the log for a report.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

/** Stored hashes of blocks of 256 leaves. */
export function readTiles({ org_id }: Scope, tx: Transaction, blocks: readonly number[]) {
  return tx.query<{ index: number; hash: string }>(
    'select index, hash from log_tiles where org_id = $1 and level = 1 and index = any($2::bigint[])',
    [org_id, blocks],
  )
}

/** The time of receipt of the first entry; null in an empty log. */
export async function readLogBegan({ org_id }: Scope, tx: Transaction): Promise<string | null> {
  const [row] = await tx.query<{ received_at: string }>(
    `select ${utc('received_at')} from log_leaves where org_id = $1 and log_index = 0`,
    [org_id],
  )
  return row?.received_at ?? null
}
