// Ids by which senders without step numbers recognise their steps, as keyed hashes.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows } from '../../db/sql.js'

export interface OriginRow {
  readonly task_id: string
  /** HMAC-SHA256 of the id. */
  readonly origin: Buffer
  readonly step: number
  readonly log_index: number
}

type Wanted = Pick<OriginRow, 'task_id' | 'origin'>

const columns = { org_id: 'text', task_id: 'text', origin: 'bytea', step: 'bigint', log_index: 'bigint' }

export async function findOrigins(scope: Scope, tx: Transaction, wanted: readonly Wanted[]): Promise<OriginRow[]> {
  if (wanted.length === 0) return []
  return tx.query<OriginRow>(
    `select task_id, origin, step, log_index from step_origins
     where org_id = $1 and (task_id, origin) in (select * from unnest($2::text[], $3::bytea[]))`,
    [scope.org_id, ...columnsOf(wanted, ['task_id', 'origin'])],
  )
}

/** Stores the ids; one that its task has already stays with its step. */
export async function insertOrigins({ org_id }: Scope, tx: Transaction, rows: readonly OriginRow[]): Promise<void> {
  if (rows.length === 0) return
  const own = rows.map((row) => ({ org_id, ...row }))
  await tx.query(
    `${insertRows('step_origins', columns)} on conflict do nothing`,
    columnsOf(own, ['org_id', 'task_id', 'origin', 'step', 'log_index']),
  )
}
