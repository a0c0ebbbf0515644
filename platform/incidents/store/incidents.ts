// Incidents. At most one per policy, agent and task is open or active.

import { type Incident, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows, utc } from '../../db/sql.js'
import { appendLeaves, appendLeavesAt, type NewLeaf } from '../../ledger/leaves.js'

/** Violations with the same key are occurrences of one incident. */
export interface IncidentKey {
  readonly policy_id: number
  readonly agent_id: string
  readonly task_id: string | null
}

interface KnownIncident extends IncidentKey {
  readonly id: string
  readonly state: Incident['state']
}

/** The latest incident of each key, in any state. The log must be locked, so that no incident is added meanwhile. */
export async function latestIncidents(
  scope: Scope,
  tx: Transaction,
  keys: readonly IncidentKey[],
): Promise<KnownIncident[]> {
  return tx.query<KnownIncident>(
    `select distinct on (i.policy_id, i.agent_id, i.task_id) i.id, i.state, i.policy_id, i.agent_id, i.task_id
     from incidents i
     join unnest($2::bigint[], $3::text[], $4::text[]) as k(policy_id, agent_id, task_id)
       on i.policy_id = k.policy_id and i.agent_id = k.agent_id and i.task_id is not distinct from k.task_id
     where i.org_id = $1
     order by i.policy_id, i.agent_id, i.task_id, (i.state in ('open', 'active')) desc, i.first_seen desc`,
    [scope.org_id, keys.map((key) => key.policy_id), keys.map((key) => key.agent_id), keys.map((key) => key.task_id)],
  )
}

/** Numbers to add to the counts of an incident. */
export interface AddedCounts {
  readonly id: string
  readonly occurrences: number
  readonly blocked: number
  readonly executed: number
}

/** The counts of an incident after a change, and its effect before it. */
export interface ChangedCounts extends Pick<Incident, 'id' | 'occurrences' | 'effect' | 'agent_id'> {
  readonly effect_before: Incident['effect']
}

/** Counts further violations on existing incidents, or other effects of known ones; `now` is ms since 1970. */
export async function addCounts(
  scope: Scope,
  tx: Transaction,
  now: number,
  counts: readonly AddedCounts[],
): Promise<ChangedCounts[]> {
  if (counts.length === 0) return []
  return tx.query<ChangedCounts>(
    `update incidents i set occurrences = i.occurrences + u.occurrences, blocked = i.blocked + u.blocked,
       executed = i.executed + u.executed, last_seen = case when u.occurrences > 0 then $2 else i.last_seen end
     from unnest($3::text[], $4::int[], $5::int[], $6::int[]) as u(id, occurrences, blocked, executed)
     join incidents b on b.org_id = $1 and b.id = u.id
     where i.org_id = $1 and i.id = u.id
     returning i.id, i.occurrences, i.effect, i.agent_id, b.effect as effect_before`,
    [scope.org_id, isoTime(now), ...columnsOf(counts, ['id', 'occurrences', 'blocked', 'executed'])],
  )
}

export type NewIncident = Omit<Incident, 'log_index' | 'agent_name' | 'reviewed_by' | 'note' | 'history' | 'state'>

const types = {
  org_id: 'text',
  log_index: 'bigint',
  id: 'text',
  agent_id: 'text',
  task_id: 'text',
  log_id: 'text',
  step: 'bigint',
  policy_id: 'bigint',
  policy_name: 'text',
  rule_type: 'text',
  manifest_id: 'text',
  severity: 'text',
  scope: 'text',
  mode: 'text',
  risk_score: 'float8',
  violation_details: 'json',
  code: 'text',
  occurrences: 'int',
  blocked: 'int',
  executed: 'int',
  first_seen: 'timestamptz',
  last_seen: 'timestamptz',
  state: 'text',
} as const

/**
 * Inserts incidents, each with a leaf of the log, at `now` (ms since 1970) or at the log's last time if that is later: lists
 * are ordered by log index, and times never decrease in that order.
 */
export async function insertIncidents(
  scope: Scope,
  tx: Transaction,
  now: number,
  opened: readonly NewIncident[],
): Promise<void> {
  if (opened.length === 0) return
  let incidents: readonly NewIncident[] = []
  const first = await appendLeavesAt(scope, tx, now, (received_at) => {
    incidents = opened.map((incident) => ({ ...incident, first_seen: received_at, last_seen: received_at }))
    return incidents.map((incident) => leafOf(incident.id, { ...incident, state: 'open' }))
  })
  const rows = incidents.map(
    (incident, index): Record<keyof typeof types, unknown> => ({
      ...incident,
      org_id: scope.org_id,
      log_index: first + index,
      state: 'open',
      blocked: incident.effects.blocked,
      executed: incident.effects.executed,
      violation_details: JSON.stringify(incident.violation_details),
      code: incident.violation_details.code,
    }),
  )
  const columns = Object.keys(types) as (keyof typeof types)[]
  await tx.query(insertRows('incidents', types), columnsOf(rows, columns))
}

function leafOf(id: string, incident: unknown): NewLeaf {
  return { type: 'incident', subject_id: id, data: { incident } }
}

/** Of `incidents` without another name. */
export const incidentColumns = `id, log_index, agent_id,
  (select name from agents a where a.org_id = incidents.org_id and a.agent_id = incidents.agent_id) as agent_name, task_id, log_id, step, policy_id, policy_name, rule_type, manifest_id, severity,
  scope, state, mode, risk_score, violation_details, occurrences, effect,
  json_build_object('blocked', blocked, 'executed', executed, 'unknown', occurrences - blocked - executed) as effects, ${utc('first_seen')}, ${utc('last_seen')}, reviewed_by, note,
  history`

/** Null when the incident does not exist. */
export function findIncident(scope: Scope, tx: Transaction, id: string): Promise<Incident | null> {
  return incidentAt(scope, tx, id, '')
}

/** Like `findIncident`, but locks the incident until the transaction ends. */
export function lockIncident(scope: Scope, tx: Transaction, id: string): Promise<Incident | null> {
  return incidentAt(scope, tx, id, 'for update')
}

async function incidentAt({ org_id }: Scope, tx: Transaction, id: string, lock: '' | 'for update') {
  const text = `select ${incidentColumns} from incidents where org_id = $1 and id = $2 ${lock}`
  const [incident] = await tx.query<Incident>(text, [org_id, id])
  return incident ?? null
}

/** The incidents with these ids, in any order. */
export async function findIncidents({ org_id }: Scope, tx: Transaction, ids: readonly string[]): Promise<Incident[]> {
  const text = `select ${incidentColumns} from incidents where org_id = $1 and id = any($2::text[])`
  return tx.query<Incident>(text, [org_id, ids])
}

/** The violation that opened an incident, as the platform found it. */
export type OpenedBy = Pick<Incident, 'id' | 'log_id' | 'step' | 'mode' | 'risk_score' | 'violation_details'>

/** Puts what the platform found in place of what the report said that opened each incident; the leaf keeps the report. */
export async function confirmIncidents(scope: Scope, tx: Transaction, found: readonly OpenedBy[]): Promise<void> {
  if (found.length === 0) return
  const rows = found.map((one) => {
    const { violation_details, ...rest } = one
    return { ...rest, violation_details: JSON.stringify(violation_details), code: violation_details.code }
  })
  const columns = ['id', 'log_id', 'step', 'mode', 'risk_score', 'violation_details', 'code'] as const
  await tx.query(
    `update incidents i set log_id = u.log_id, step = coalesce(i.step, u.step), mode = u.mode, risk_score = u.risk_score,
       violation_details = u.violation_details, code = u.code
     from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::float8[], $7::json[], $8::text[]) as u(${columns.join(', ')})
     where i.org_id = $1 and i.id = u.id`,
    [scope.org_id, ...columnsOf(rows, columns)],
  )
}

type IncidentChange = Pick<Incident, 'state' | 'reviewed_by' | 'note' | 'history'>

/**
 * Changes the incident and appends a leaf to the log at `now` (ms since 1970). Null when another incident of the same
 * policy, agent and task is open or active.
 */
export async function updateIncident(
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  change: IncidentChange,
): Promise<Incident | null> {
  const { state, reviewed_by, note, history } = change
  const [incident] = await tx.query<Incident>(
    `update incidents set state = $3, reviewed_by = $4, note = $5, history = $6
     where org_id = $1 and id = $2 and ($3 not in ('open', 'active') or not exists (
       select 1 from incidents o where o.org_id = incidents.org_id and o.id <> incidents.id
         and o.policy_id = incidents.policy_id and o.agent_id = incidents.agent_id
         and o.task_id is not distinct from incidents.task_id and o.state in ('open', 'active')))
     returning ${incidentColumns}`,
    [scope.org_id, id, state, reviewed_by, note, JSON.stringify(history)],
  )
  if (incident === undefined) return null
  await appendLeaves(scope, tx, now, [leafOf(id, change)])
  return incident
}
