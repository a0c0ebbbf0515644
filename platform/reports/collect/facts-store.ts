// Reads what a report needs from outside the period: events as leaves of the log, and tables for what the log does not hold.

import type {
  AgentRow,
  EarlierIncident,
  GateRow,
  IncidentRow,
  PolicySource,
  TableFacts,
  WaiverBegan,
} from '@svc/report'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex, utc } from '../../db/sql.js'

/** A row `r` of log_records as the JSON of a `LeafRow`. */
export const leafRow = 'json_build_array(r.log_index, r.hash, r.record, r.salts, r.body)::text'

export interface Numbered {
  readonly log_index: number
  readonly line: string
}

/** The leaves of the next events of a kind after a log index, as `LeafRow`. */
export function readEvents({ org_id }: Scope, tx: Transaction, kind: string, after: number, limit: number) {
  return tx.query<Numbered>(
    `select v.log_index, ${leafRow} as line from events v join log_records r on r.org_id = $1 and r.log_index = v.log_index
     where v.org_id = $1 and v.kind = $2 and v.log_index > $3 order by v.log_index limit ${limit}`,
    [org_id, kind, after],
  )
}

/**
 * The next leaves of events after a log index: where the page ends, and those whose row is missing or has another kind. Events are
 * found by their rows, so that such a leaf would not be found.
 */
export async function readUnfound({ org_id }: Scope, tx: Transaction, after: number, size: number, limit: number) {
  await readByIndex(tx)
  const [row] = await tx.query<{ count: number; last: number | null; unfound: number[] }>(
    `select count(*)::int as count, max(r.log_index) as last, coalesce(json_agg(r.log_index order by r.log_index)
       filter (where v.id is null or position('"kind":"' || v.kind || '"' in r.body) = 0), '[]'::json) as unfound
     from (select log_index, subject_id, body from log_records
       where org_id = $1 and log_index > $2 and log_index < $3 and type = 'event' order by log_index limit $4) r
     left join lateral (
       select id, kind from events e where e.org_id = $1 and e.id = r.subject_id and e.log_index = r.log_index limit 1) v on true`,
    [org_id, after, size, limit],
  )
  const { count = 0, last = null, unfound = [] } = row ?? {}
  return { unfound, next: count < limit ? null : last }
}

/** The leaves of the next erasures and prunes after a log index. */
export function readRemovals({ org_id }: Scope, tx: Transaction, after: number, limit: number) {
  return tx.query<Numbered>(
    `select r.log_index, ${leafRow} as line from log_records r
     where r.org_id = $1 and r.type in ('erasure', 'prune') and r.log_index > $2 order by r.log_index limit ${limit}`,
    [org_id, after],
  )
}

const stateEvents = `('incident.active', 'incident.resolved', 'incident.ignored', 'incident.opened')`
const moves = `('incident.active', 'incident.resolved', 'incident.ignored', 'incident.opened', 'incident.effect_changed')`

/** The leaves of events that open these incidents, move them or change their effect, from a log index on and before another. */
export async function readMoves(
  { org_id }: Scope,
  tx: Transaction,
  ids: readonly string[],
  { first, end }: { readonly first: number; readonly end: number },
): Promise<string[]> {
  const rows = await tx.query<{ line: string }>(
    `select ${leafRow} as line from events v join log_records r on r.org_id = $1 and r.log_index = v.log_index
     where v.org_id = $1 and v.subject_id = any($2::text[]) and v.log_index >= $3 and v.log_index < $4
       and v.kind in ${moves} order by v.log_index`,
    [org_id, ids, first, end],
  )
  return rows.map(({ line }) => line)
}

/**
 * The next incidents that were opened before the period and are open or active at the cut-off, and where the page ends. The last
 * event of an incident shows its state; the row shows it only for one without events. An incident without a row has its event.
 */
export async function readEarlierIncidents(
  { org_id }: Scope,
  tx: Transaction,
  after: number,
  { first, cut_off }: { readonly first: number; readonly cut_off: number },
  limit: number,
) {
  const inPage = `org_id = $1 and log_index > $2 and log_index < $3`
  const [row] = await tx.query<{ count: number; last: number | null; open: EarlierIncident[] }>(
    `select count(*)::int as count, max(log_index) as last,
       coalesce(json_agg(json_build_array(id, state)) filter (where state in ('open', 'active')), '[]'::json) as open
     from (select i.id, i.log_index, coalesce((
           select case v.kind when 'incident.opened' then 'open' else replace(v.kind, 'incident.', '') end from events v
           where v.org_id = $1 and v.subject_id = i.id and v.log_index < $4 and v.kind in ${stateEvents}
           order by v.log_index desc limit 1), i.state) as state
       from (select * from (
           (select id, log_index, state from incidents where ${inPage} order by log_index limit $5) union all
           (select e.subject_id, e.log_index, 'open' from events e where ${inPage} and kind = 'incident.opened'
              and not exists (select from incidents o where o.org_id = $1 and o.id = e.subject_id) order by log_index limit $5)
         ) found order by log_index limit $5) i) known`,
    [org_id, after, first, cut_off, limit],
  )
  const { count = 0, last = null, open = [] } = row ?? {}
  return { open, next: count < limit ? null : last }
}

/** The first leaf of each of these incidents, which opens it. */
export async function readOpenings({ org_id }: Scope, tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ line: string }>(
    `select ${leafRow} as line from unnest($2::text[]) as wanted(id) cross join lateral (
       select * from log_records r where r.org_id = $1 and r.subject_id = wanted.id and r.type = 'incident'
       order by r.log_index limit 1) r order by r.log_index`,
    [org_id, ids],
  )
  return rows.map(({ line }) => line)
}

/** The rows of these incidents, for leaves that were erased or deleted. */
export async function readIncidentRows(
  { org_id }: Scope,
  tx: Transaction,
  ids: readonly string[],
): Promise<IncidentRow[]> {
  const rows = await tx.query<Omit<IncidentRow, 'reason'> & { details: { reason?: string; message?: string } }>(
    `select id, agent_id, task_id, step, policy_id, policy_name, rule_type, severity, scope, mode, violation_details as details,
       ${utc('first_seen')} from incidents where org_id = $1 and id = any($2::text[])`,
    [org_id, ids],
  )
  return rows.map(({ details, ...row }) => ({ ...row, reason: details.reason ?? details.message ?? '' }))
}

/** The next agents after an id. */
export function readAgents({ org_id }: Scope, tx: Transaction, after: string, limit: number) {
  return tx.query<AgentRow>(
    `select agent_id, agent_key, name, purpose, risk_classification, environment, active, ${utc('created_at')}
     from agents where org_id = $1 and agent_id > $2 order by agent_id limit ${limit}`,
    [org_id, after],
  )
}

export async function readPolicySets(
  { org_id }: Scope,
  tx: Transaction,
  digests: readonly string[],
): Promise<{ digest: string; body: string }[]> {
  return tx.query(
    'select digest, body from policy_sets where org_id = $1 and digest = any($2::text[]) order by array_position($2, digest)',
    [org_id, digests],
  )
}

/** The policies as they were at the cut-off: those that people change have versions. */
export function readPolicySources({ org_id }: Scope, tx: Transaction, ids: readonly number[], cut_off: number) {
  return tx.query<PolicySource>(
    `select id, coalesce((select v.controls from policy_versions v
         where v.org_id = $1 and v.policy_id = p.id and v.from_index < $3 order by v.version desc limit 1), controls) as controls,
       manifest_name, manifest_repo, manifest_path, manifest_sha
     from policies p where org_id = $1 and id = any($2::bigint[])`,
    [org_id, ids, cut_off],
  )
}

/** Since when these policies are waived until the same time: earlier versions of a manifest have policies of their own. */
export function readWaiverBegins({ org_id }: Scope, tx: Transaction, ids: readonly number[]) {
  return tx.query<WaiverBegan>(
    `select p.id as policy_id, ${utc('min(e.created_at)', 'began_at')} from policies p
     join policies e on e.org_id = $1 and e.assignment_id = p.assignment_id and e.name = p.name
       and e.waived_until = p.waived_until and e.id <= p.id
     where p.org_id = $1 and p.id = any($2::bigint[]) group by p.id order by p.id`,
    [org_id, ids],
  )
}

/** The entries of these gates; of several steps with one number, that of the first. */
export function readGates({ org_id }: Scope, tx: Transaction, gates: readonly { task_id: string; step: number }[]) {
  return tx.query<GateRow>(
    `select distinct on (e.task_id, e.step) e.task_id, e.step, e.log_index, e.hash, e.record, p.salts, p.body
     from unnest($2::text[], $3::bigint[]) as g(task_id, step)
     join log_entries e on e.org_id = $1 and e.task_id = g.task_id and e.step = g.step
     left join log_payloads p on p.org_id = $1 and p.log_index = e.log_index and p.received_at = e.received_at
     order by e.task_id, e.step, e.seq`,
    [org_id, gates.map(({ task_id }) => task_id), gates.map(({ step }) => step)],
  )
}

/** Facts that the log does not hold: the name, the retention period and the members as they are now. */
export async function readWorkspace({ org_id }: Scope, tx: Transaction) {
  const [row] = await tx.query<Pick<TableFacts, 'organization' | 'retention_days'>>(
    `select o.name as organization, l.retention_days from organizations o join org_log l on l.org_id = o.org_id
     where o.org_id = $1`,
    [org_id],
  )
  const members = await tx.query<TableFacts['members'][number]>(
    `select person_id, role, ${utc('joined_at')} from memberships where org_id = $1 order by person_id`,
    [org_id],
  )
  const { organization = '', retention_days = 0 } = row ?? {}
  return { organization, retention_days, members }
}

/** The tasks of these agents that were on hold, or erased between two log indexes. */
export async function readOwnTasks(
  { org_id }: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
  { first, end }: { readonly first: number; readonly end: number },
): Promise<string[]> {
  // Both types are named as the index of removals names them.
  const rows = await tx.query<{ task_id: string }>(
    `select t.task_id from task_heads t where t.org_id = $1 and t.agent_id = any($2::text[]) and t.task_id in (
       select h.task_id from holds h where h.org_id = $1 union
       select r.subject_id from log_records r
         where r.org_id = $1 and r.type in ('erasure', 'prune') and r.type = 'erasure' and r.log_index >= $3 and r.log_index < $4)`,
    [org_id, agent_ids, first, end],
  )
  return rows.map(({ task_id }) => task_id)
}
