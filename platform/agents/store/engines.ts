// The states that local engines reported, as intervals of time. A row is what one event of the log made known.
import type { KnownInterval } from '@svc/report'
import { type EngineHeartbeat, type EngineIntervals, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex, utc, utcText } from '../../db/sql.js'

/** A state of one run of an engine; `since` is RFC 3339 in UTC. */
export interface RunState extends Pick<EngineHeartbeat, 'instance_id' | 'load_state' | 'since'> {
  readonly agent_id: string
}

/**
 * Extends what is known of the latest state of a run up to `until`, if a heartbeat confirmed it after `confirmed_after` (ms since
 * 1970). False for any other state.
 */
export async function extendState(
  scope: Scope,
  tx: Transaction,
  { agent_id, instance_id, load_state, since }: RunState,
  { until, confirmed_after }: { readonly until: number; readonly confirmed_after: number },
): Promise<boolean> {
  const rows = await tx.query(
    `update engine_intervals i set last_seen_at = greatest(last_seen_at, $6)
     where org_id = $1 and agent_id = $2 and instance_id = $3 and since = $4 and load_state = $5 and not ended
       and last_seen_at > $7 and not exists (
         select from engine_intervals n where n.org_id = $1 and n.agent_id = $2 and n.instance_id = $3
           and n.since >= $4 and (n.since, n.log_index) > (i.since, i.log_index))
     returning 1`,
    [scope.org_id, agent_id, instance_id, since, load_state, isoTime(until), isoTime(confirmed_after)],
  )
  return rows.length > 0
}

/** The time until which a state of a run is known (ms since 1970), and true if the run ended there; null for an unknown state. */
export async function knownState(
  scope: Scope,
  tx: Transaction,
  { agent_id, instance_id, load_state, since }: RunState,
): Promise<{ readonly until: number; readonly ended: boolean } | null> {
  const [row] = await tx.query<{ until: number; ended: boolean }>(
    `select ${ms('last_seen_at')} as until, ended from engine_intervals
     where org_id = $1 and agent_id = $2 and instance_id = $3 and since = $4 and load_state = $5
     order by last_seen_at desc, ended desc limit 1`,
    [scope.org_id, agent_id, instance_id, since, load_state],
  )
  return row ?? null
}

/** The state that one heartbeat made known; times are RFC 3339 in UTC. */
interface LearnedState extends RunState, Pick<EngineHeartbeat, 'policy_count' | 'version'> {
  readonly seen_from: string
  readonly last_seen_at: string
  readonly ended: boolean
}

export async function insertState(scope: Scope, tx: Transaction, log_index: number, state: LearnedState) {
  const { agent_id, instance_id, since, load_state, policy_count, version, seen_from, last_seen_at, ended } = state
  await tx.query(
    `insert into engine_intervals (org_id, agent_id, log_index, instance_id, since, load_state, policy_count, version, seen_from,
       last_seen_at, ended)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      scope.org_id,
      agent_id,
      log_index,
      instance_id,
      since,
      load_state,
      policy_count,
      version,
      seen_from,
      last_seen_at,
      ended,
    ],
  )
}

/**
 * The latest intervals of an agent's engines, newest first. An engine that was last seen before `unknown_before` (ms since 1970)
 * has been in an unknown state since then, unless it reported that it stopped.
 */
export async function readIntervals(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  unknown_before: number,
  limit: number,
): Promise<EngineIntervals['intervals']> {
  await readByIndex(tx)
  return tx.query(
    // The latest beginnings bound what is read; the next interval of a run begins later.
    `select instance_id, version, load_state, policy_count, ${utc('since')},
       ${utcText('case when next is not null then next when ended then seen end')} as until,
       case when next is null and not ended and seen < $3 then ${utcText('seen')} end as unknown_since
     from (select *, lead(since) over (partition by instance_id order by since, load_state) as next
           from (select instance_id, since, load_state, max(version) as version, max(policy_count) as policy_count,
                   max(last_seen_at) as seen, bool_or(ended) as ended
                 from engine_intervals where org_id = $1 and agent_id = $2 and since >= coalesce((
                   select min(since) from (select distinct since from engine_intervals
                     where org_id = $1 and agent_id = $2 order by since desc limit ${limit}) latest), '-infinity')
                 group by 1, 2, 3) s) i
     order by since desc, instance_id limit ${limit}`,
    [scope.org_id, agent_id, isoTime(unknown_before)],
  )
}

/** Intervals that were heard after a time, and those before it that count later: of each run the first and the latest ones. */
const parts = {
  after:
    'select * from engine_intervals where org_id = $1 and agent_id = a.agent_id and log_index < $4 and last_seen_at >= $5',
  before: `select * from (
      select *, min(seen_from) over run as first, max(last_seen_at) over run as last, max(since) over run as latest
      from engine_intervals where org_id = $1 and agent_id = a.agent_id and log_index < $4 and last_seen_at < $5
      window run as (partition by instance_id)) old
    where seen_from = first or last_seen_at = last or since = latest`,
}

/** The next intervals of each agent after a log index, in order of their log indexes below `size`: at most `limit` for each. */
export function intervalsAfter(
  scope: Scope,
  tx: Transaction,
  agents: readonly { readonly agent_id: string; readonly after: number }[],
  part: keyof typeof parts,
  { from, size }: { readonly from: number; readonly size: number },
  limit: number,
): Promise<KnownInterval[]> {
  return tx.query<KnownInterval>(
    `select a.agent_id, r.* from unnest($2::text[], $3::bigint[]) as a(agent_id, after) cross join lateral (
       select log_index, instance_id, load_state, ${ms('since')} as since, ${ms('seen_from')} as seen_from,
         ${ms('last_seen_at')} as last_seen_at, ended
       from (${parts[part]}) i where log_index > a.after order by log_index limit ${limit}) r`,
    [scope.org_id, agents.map(({ agent_id }) => agent_id), agents.map(({ after }) => after), size, isoTime(from)],
  )
}

function ms(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`
}
