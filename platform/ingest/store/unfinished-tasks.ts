// Running tasks whose timeout has passed.
// INVARIANT (noted once): `unfinished_at` is null from the last step of a task until the task is noted.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

/** A task that was noted as unfinished. */
export interface UnfinishedTask {
  readonly task_id: string
  readonly agent_id: string
  /** The time of its last step, as its sender gave it. */
  readonly last_ts: string
  readonly steps: number
  /** When its last step occurred; null once that entry is pruned. */
  readonly last_occurred_at: string | null
  readonly last_received_at: string
  readonly last_log_index: number
}

const due = 'not t.has_end and not t.has_error and t.unfinished_at is null'

/** The organizations with a task that is not noted and had its last step before `overdue`. */
export async function organizationsDueUnscoped(tx: Transaction, overdue: string): Promise<string[]> {
  const rows = await tx.query<{ org_id: string }>(
    `select o.org_id from org_log o cross join lateral (
       select t.last_received_at from task_heads t where t.org_id = o.org_id and ${due}
       order by t.last_received_at limit 1
     ) oldest where oldest.last_received_at < $1 order by o.org_id`,
    [overdue],
  )
  return rows.map(({ org_id }) => org_id)
}

/** Sets `unfinished_at` of at most `limit` tasks, those that are silent for longest first. The log must be locked. */
export function noteUnfinished(
  scope: Scope,
  tx: Transaction,
  now: string,
  overdue: string,
  limit: number,
): Promise<UnfinishedTask[]> {
  return tx.query<UnfinishedTask>(
    `with silent as (
       select t.task_id from task_heads t where t.org_id = $1 and ${due} and t.last_received_at < $3
       order by t.last_received_at limit ${limit}
     ), noted as (
       update task_heads t set unfinished_at = $2 from silent s where t.org_id = $1 and t.task_id = s.task_id
       returning t.*
     )
     select n.task_id, n.agent_id, n.last_ts, n.seq as steps, ${utc('e.occurred_at', 'last_occurred_at')},
       ${utc('n.last_received_at')}, n.last_log_index
     from noted n left join log_entries e
       on e.org_id = n.org_id and e.log_index = n.last_log_index and e.received_at = n.last_received_at
     order by n.last_log_index`,
    [scope.org_id, now, overdue],
  )
}
