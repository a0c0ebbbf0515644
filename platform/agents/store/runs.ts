// The runs of engines that still count for the state of an agent now. They repeat the latest of `engine_intervals`.
import { heartbeatTimeoutMs, type KnownInterval, maxClockSkewMs, silentRunEndsMs } from '@svc/report'
import { type EngineHeartbeat, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Condition, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import type { RunState } from './engines.js'

/** The state of a run that a heartbeat confirmed; times are RFC 3339 in UTC. */
export interface SeenRun extends RunState, Pick<EngineHeartbeat, 'policy_count' | 'version'> {
  readonly last_seen_at: string
  readonly ended: boolean
}

/** Follows what a heartbeat made known of a run. One that comes late does not replace a later state. */
export async function noteRun(scope: Scope, tx: Transaction, run: SeenRun): Promise<void> {
  const { agent_id, instance_id, load_state, policy_count, version, since, last_seen_at, ended } = run
  const latest = (column: string) =>
    `${column} = case when excluded.since >= r.since then excluded.${column} else r.${column} end`
  const ofState = ['load_state', 'policy_count', 'version', 'since', 'state_seen_at', 'ended'].map(latest)
  await tx.query(
    `insert into engine_runs as r (org_id, agent_id, instance_id, load_state, policy_count, version, since, first_seen_at,
       state_seen_at, last_seen_at, ended)
     select $1, $2, $3, $4, $5, $6, $7, min(seen_from), $8, $8, $9 from engine_intervals
       where org_id = $1 and agent_id = $2 and instance_id = $3
     on conflict (org_id, agent_id, instance_id) do update set ${ofState.join(', ')},
       first_seen_at = least(r.first_seen_at, excluded.first_seen_at), last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)`,
    [scope.org_id, agent_id, instance_id, load_state, policy_count, version, since, last_seen_at, ended],
  )
}

/** Forgets the runs of an agent that ended so long before its latest one that they change nothing. */
export async function forgetRuns(scope: Scope, tx: Transaction, agent_id: string): Promise<void> {
  await tx.query(
    `delete from engine_runs where org_id = $1 and agent_id = $2 and last_seen_at < (
       select max(last_seen_at) from engine_runs where org_id = $1 and agent_id = $2) - $3 * interval '1 millisecond'`,
    [scope.org_id, agent_id, silentRunEndsMs + 2 * maxClockSkewMs],
  )
}

/** A run as the report reads it, with what it reported; times are ms since 1970. */
export interface StoredRun extends KnownInterval, Pick<EngineHeartbeat, 'policy_count' | 'version'> {
  readonly state_seen_at: number
}

export function runsOf(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<StoredRun[]> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`
  return tx.query<StoredRun>(
    `select agent_id, 0 as log_index, instance_id, load_state, ${ms('since')} as since, ${ms('first_seen_at')} as seen_from,
       ${ms('state_seen_at')} as state_seen_at, ${ms('last_seen_at')} as last_seen_at, ended, policy_count, version
     from engine_runs where org_id = $1 and agent_id = any($2::text[]) order by agent_id, instance_id`,
    [scope.org_id, agent_ids],
  )
}

/**
 * Keeps from when and until when all engines of the agent enforce policies, unless another heartbeat comes, as `governanceOf` of the
 * report decides it: at least one run is heard, and every run that is not heard has stopped, was replaced by a later one, or has been
 * silent for a day.
 */
export async function keepEnforcing(scope: Scope, tx: Transaction, agent_id: string, now: number): Promise<void> {
  const after = (column: string, ms: number) => `${column} + interval '${ms} milliseconds'`
  await tx.query(
    `insert into agent_engines (org_id, agent_id, enforces_from, enforces_until)
     select $1, $2, coalesce(max(counts_until) filter (where not enforces), '-infinity'),
       coalesce(least(min(heard_until) filter (where enforces and not replaced), max(heard_until) filter (where enforces)), '-infinity')
     from (
       select heard_until, replaced, heard_until > $3 and load_state in ('enforcing', 'stale_cache') as enforces,
         case when replaced then heard_until else ${after('last_seen_at', silentRunEndsMs)} end as counts_until
       from (select *, ${after('state_seen_at', heartbeatTimeoutMs)} as heard_until,
           max(first_seen_at) over () >= greatest(${after('first_seen_at', 1)}, ${after('last_seen_at', -maxClockSkewMs)}) as replaced
         from engine_runs where org_id = $1 and agent_id = $2) r
       where not ended) s
     on conflict (org_id, agent_id) do update set enforces_from = excluded.enforces_from, enforces_until = excluded.enforces_until`,
    [scope.org_id, agent_id, isoTime(now)],
  )
}

/** True for agents of which an engine that has not stopped was heard in the time-out before `at` (ms since 1970). */
export function isHeard(scope: Scope, at: number): Condition {
  const heard = rowsOf(scope, 'engine_runs')
    .where('ended', false)
    .where('state_seen_at', '>', isoTime(at - heartbeatTimeoutMs))
    .select('agent_id')
  return (agents) => agents.whereIn('agent_id', heard)
}

/** True for agents whose engines all enforce policies at `at` (ms since 1970). */
export function isEnforcing(scope: Scope, at: number): Condition {
  const enforcing = rowsOf(scope, 'agent_engines')
    .where('enforces_from', '<=', isoTime(at))
    .where('enforces_until', '>', isoTime(at))
  return (agents) => agents.whereIn('agent_id', enforcing.select('agent_id'))
}
