// Stops, and the agents that they stop.
import { isoTime, type Stop } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Filter, type List, type Listed, type Page, page, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

/** True if the stop `s` concerns the agent `a`, resumed or not. Removing an assignment does not end the stop of its manifest. */
const concerns = `case s.target_kind when 'workspace' then true when 'agent' then a.agent_id = s.target_id
    when 'key' then exists (
      select from agents k where k.org_id = s.org_id and k.agent_id = a.agent_id and k.api_key_id = s.target_id)
    when 'deactivated' then exists (
      select from agents d where d.org_id = s.org_id and d.agent_id = a.agent_id and not d.active)
    else exists (
    select from assignments x join assignment_versions v on v.org_id = x.org_id and v.assignment_id = x.id
    where x.org_id = s.org_id and x.agent_id = a.agent_id and x.manifest_id = s.target_id
      and (v.until_index is null or v.until_index >= s.from_index)) end`

const isResumed = `exists (select from stop_resumed_agents r
    where r.org_id = s.org_id and r.stop_id = s.id and r.agent_id = a.agent_id)`

/**
 * The agents among these that are stopped, by the policy of each stop that is on; a stop that stops none of them has an empty set.
 * INVARIANT (a stop covers): an agent that a stop concerns leaves it only by a stage of its resumption.
 */
export async function stoppedAgents(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const rows = await tx.query<{ policy_id: number; agents: string[] }>(
    `select s.policy_id, array(select a.agent_id from unnest($2::text[]) as a(agent_id)
       where ${concerns} and not ${isResumed}) as agents
     from stops s where s.org_id = $1 and s.state <> 'resumed'`,
    [scope.org_id, agent_ids],
  )
  return new Map(rows.map(({ policy_id, agents }) => [policy_id, new Set(agents)]))
}

/** The stop of deactivated agents follows from them: no member resumes it, and no list shows it. */
const isMade = `s.target_kind <> 'deactivated'`

/** The agents that the stop `s` stops now, found by its target: a list has many stops, and many agents. */
const stoppedBy = `select a.agent_id from agents a
    where s.target_kind = 'workspace' and a.org_id = s.org_id and not ${isResumed}
  union all select a.agent_id from agents a
    where s.target_kind = 'agent' and a.org_id = s.org_id and a.agent_id = s.target_id and not ${isResumed}
  union all select a.agent_id from agents a
    where s.target_kind = 'key' and a.org_id = s.org_id and a.api_key_id = s.target_id and not ${isResumed}
  union all select distinct a.agent_id from assignments a
    join assignment_versions v on v.org_id = a.org_id and v.assignment_id = a.id
    where s.target_kind = 'manifest' and a.org_id = s.org_id and a.manifest_id = s.target_id
      and (v.until_index is null or v.until_index >= s.from_index) and not ${isResumed}`

/** The ids of the agents that a stop stops now: the stop with the id, or any stop if it is null. */
export function stoppedNow(scope: Scope, stop_id: string | null): List {
  const stops = rowsOf(scope, 'stops s').joinRaw(`cross join lateral (${stoppedBy}) a`)
  if (stop_id !== null) stops.where('s.id', stop_id)
  return stops.whereRaw(`${isMade} and s.state <> 'resumed'`).select('a.agent_id')
}

/** A stop with the number of agents that it stops now. */
const columns = `s.id, json_build_object('kind', s.target_kind, 'id', s.target_id) as target, s.reason, s.state,
  ${utc('s.created_at')}, s.created_by, s.stages, s.policy_id, ${utc('s.resumed_at')},
  case when s.state = 'resumed' then 0 else (select count(*)::int from (${stoppedBy}) a) end as agents`

export interface NewStop extends Pick<Stop, 'id' | 'reason' | 'policy_id'> {
  readonly target: { readonly kind: Stop['target']['kind'] | 'deactivated'; readonly id: string | null }
  readonly created_by: string
  /** The size of the log. */
  readonly from_index: number
}

export async function insertStop(scope: Scope, tx: Transaction, now: number, stop: NewStop): Promise<void> {
  const { id, target, reason, created_by, from_index, policy_id } = stop
  await tx.query(
    `insert into stops (org_id, id, target_kind, target_id, reason, state, created_at, created_by, from_index, policy_id)
     values ($1, $2, $3, $4, $5, 'stopped', $6, $7, $8, $9)`,
    [scope.org_id, id, target.kind, target.id, reason, isoTime(now), created_by, from_index, policy_id],
  )
  await tx.query('update policies set stop_id = $3 where org_id = $1 and id = $2', [scope.org_id, policy_id, id])
}

/** True if the workspace has the stop of its deactivated agents. */
export async function hasStopOfDeactivated(scope: Scope, tx: Transaction): Promise<boolean> {
  const rows = await tx.query("select from stops where org_id = $1 and target_kind = 'deactivated'", [scope.org_id])
  return rows.length > 0
}

/** Null for an unknown stop. */
export async function findStop(scope: Scope, tx: Transaction, id: string): Promise<Stop | null> {
  const [row] = await tx.query<Stop>(`select ${columns} from stops s where s.org_id = $1 and s.id = $2 and ${isMade}`, [
    scope.org_id,
    id,
  ])
  return row ?? null
}

export function listStops(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Stop>> {
  const { state, target, target_id, agent_id } = filter
  const stops = rowsOf(scope, 'stops s')
    .whereRaw(isMade)
    .where(equal({ state, target_kind: target, target_id }))
  if (agent_id !== undefined)
    stops.whereRaw(
      `s.state <> 'resumed' and exists (select from agents a
         where a.org_id = s.org_id and a.agent_id = ? and ${concerns} and not ${isResumed})`,
      [agent_id],
    )
  return page<Stop>(tx, stops, { columns, key: 's.id', newest_first: true }, at)
}

export interface ConcernedAgent {
  readonly agent_id: string
  readonly resumed: boolean
}

/** Every agent that the stop concerns. */
export function concernedAgents(scope: Scope, tx: Transaction, id: string): Promise<ConcernedAgent[]> {
  return tx.query<ConcernedAgent>(
    `select a.agent_id, ${isResumed} as resumed from stops s join agents a on a.org_id = s.org_id
     where s.org_id = $1 and s.id = $2 and ${concerns} order by a.agent_id`,
    [scope.org_id, id],
  )
}

export async function resumeAgents(scope: Scope, tx: Transaction, id: string, agent_ids: readonly string[]) {
  await tx.query(
    'insert into stop_resumed_agents (org_id, stop_id, agent_id) select $1, $2, unnest($3::text[]) on conflict do nothing',
    [scope.org_id, id, agent_ids],
  )
}

/** Stores the state and the stages; the end of a stop disables its policy at a log index. */
export async function setStop(
  scope: Scope,
  tx: Transaction,
  now: number,
  { id, state, stages, policy_id }: Pick<Stop, 'id' | 'state' | 'stages' | 'policy_id'>,
  log_index: number,
): Promise<void> {
  const resumed_at = state === 'resumed' ? isoTime(now) : null
  await tx.query('update stops set state = $3, stages = $4, resumed_at = $5 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    state,
    JSON.stringify(stages),
    resumed_at,
  ])
  if (state !== 'resumed') return
  await tx.query(
    `update policies set enabled = false, until_index = $3, updated_at = $4, version = version + 1
     where org_id = $1 and id = $2`,
    [scope.org_id, policy_id, log_index, isoTime(now)],
  )
}

/** The stop that a policy belongs to; null for any other policy. Such a policy is changed by its stop only. */
export async function stopOfPolicy(scope: Scope, tx: Transaction, policy_id: number) {
  const [row] = await tx.query<{ id: string; target_kind: NewStop['target']['kind'] }>(
    `select s.id, s.target_kind from policies p join stops s on s.org_id = p.org_id and s.id = p.stop_id
     where p.org_id = $1 and p.id = $2`,
    [scope.org_id, policy_id],
  )
  return row ?? null
}

/** The ids of the agents with this key; several API keys can each have one. */
export async function agentsWithKey(scope: Scope, tx: Transaction, agent_key: string): Promise<string[]> {
  const rows = await tx.query<{ agent_id: string }>(
    'select agent_id from agents where org_id = $1 and agent_key = $2 order by agent_id limit 10',
    [scope.org_id, agent_key],
  )
  return rows.map(({ agent_id }) => agent_id)
}

/** The API key of an agent; null for an unknown agent. */
export async function keyOfAgent(scope: Scope, tx: Transaction, agent_id: string): Promise<string | null> {
  const text = 'select api_key_id from agents where org_id = $1 and agent_id = $2'
  const [row] = await tx.query<{ api_key_id: string }>(text, [scope.org_id, agent_id])
  return row?.api_key_id ?? null
}

/** True if an agent, or any assignment ever of a manifest, has this id. */
export async function hasTarget(scope: Scope, tx: Transaction, kind: 'agent' | 'manifest', id: string) {
  const rows = await tx.query(
    kind === 'agent'
      ? 'select 1 from agents where org_id = $1 and agent_id = $2'
      : 'select 1 from assignments where org_id = $1 and manifest_id = $2 limit 1',
    [scope.org_id, id],
  )
  return rows.length > 0
}
