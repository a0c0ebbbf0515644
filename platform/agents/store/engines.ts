// The states that local engines reported, as intervals of time.
import { type EngineHeartbeat, type EngineIntervals, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc, utcText } from '../../db/sql.js'

/** Inserts the interval, or updates the time it was last seen (`seen_at`, ms since 1970). True when it is new. */
export async function putInterval(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  { instance_id, load_state, policy_count, version, since }: EngineHeartbeat,
  seen_at: number,
): Promise<boolean> {
  const [row] = await tx.query<{ added: boolean }>(
    `insert into engine_intervals (org_id, agent_id, instance_id, since, load_state, policy_count, version, last_seen_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (org_id, agent_id, instance_id, since) do update
       set last_seen_at = greatest(engine_intervals.last_seen_at, excluded.last_seen_at)
     returning xmax = 0 as added`,
    [scope.org_id, agent_id, instance_id, since, load_state, policy_count, version, isoTime(seen_at)],
  )
  return row?.added ?? false
}

/**
 * The latest intervals of an agent's engines, newest first. An engine that was last seen before `unknown_before` (ms since 1970)
 * has been in an unknown state since then.
 */
export async function readIntervals(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  unknown_before: number,
  limit: number,
): Promise<EngineIntervals['intervals']> {
  return tx.query(
    `select instance_id, version, load_state, policy_count, ${utc('since')}, ${utc('next', 'until')},
       case when next is null and last_seen_at < $3 then ${utcText('last_seen_at')} end as unknown_since
     from (select *, lead(since) over (partition by instance_id order by since) as next
           from engine_intervals where org_id = $1 and agent_id = $2) i
     order by since desc, instance_id limit ${limit}`,
    [scope.org_id, agent_id, isoTime(unknown_before)],
  )
}
