// Reports that an erasure does not reach.
import { maxAheadMs } from '@svc/proof'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'

/** The ids of issued reports that may hold one of these entries, oldest first: those that read it. */
export async function reportsOver(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select r.id from reports r where r.org_id = $1 and r.status = 'ready' and exists (
       select 1 from log_leaves l where l.org_id = $1 and l.log_index = any($2::bigint[]) and l.log_index < r.cut_off
         and case r.counted_by when 'received' then l.received_at >= r.period_from and l.received_at < r.period_to
           else l.received_at >= r.period_from - make_interval(secs => $3) end)
     order by r.number`,
    [scope.org_id, log_indexes, maxAheadMs / 1000],
  )
  return rows.map(({ id }) => id)
}
