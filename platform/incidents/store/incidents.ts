// Incidents. At most one per policy, agent and task is open or active.

import { type Incident, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Filter, type Listed, type Page, page } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, filters, insertRows, utc } from '../../db/sql.js'
import { appendLeaves, type NewLeaf } from '../../ledger/leaves.js'
import { shownDetails } from '../../ledger/violations.js'

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

/** Counts further violations on existing incidents; `now` is ms since 1970. */
export async function countOccurrences(
  scope: Scope,
  tx: Transaction,
  now: number,
  counts: readonly { readonly id: string; readonly occurrences: number }[],
): Promise<void> {
  if (counts.length === 0) return
  await tx.query(
    `update incidents i set occurrences = i.occurrences + u.occurrences, last_seen = $2
     from unnest($3::text[], $4::int[]) as u(id, occurrences) where i.org_id = $1 and i.id = u.id`,
    [scope.org_id, isoTime(now), counts.map((row) => row.id), counts.map((row) => row.occurrences)],
  )
}

export type NewIncident = Omit<Incident, 'log_index' | 'reviewed_by' | 'note' | 'history' | 'state'>

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
  occurrences: 'int',
  first_seen: 'timestamptz',
  last_seen: 'timestamptz',
  state: 'text',
} as const

/** Inserts incidents, each with a leaf of the log; `now` is ms since 1970. */
export async function insertIncidents(
  scope: Scope,
  tx: Transaction,
  now: number,
  incidents: readonly NewIncident[],
): Promise<void> {
  if (incidents.length === 0) return
  const leaves = incidents.map((incident) => leafOf(incident.id, { ...incident, state: 'open' }))
  const first = await appendLeaves(scope, tx, now, leaves)
  const rows = incidents.map(
    (incident, index): Record<keyof typeof types, unknown> => ({
      ...incident,
      org_id: scope.org_id,
      log_index: first + index,
      state: 'open',
      violation_details: JSON.stringify(incident.violation_details),
    }),
  )
  const columns = Object.keys(types) as (keyof typeof types)[]
  await tx.query(insertRows('incidents', types), columnsOf(rows, columns))
}

function leafOf(id: string, incident: unknown): NewLeaf {
  return { type: 'incident', subject_id: id, data: { incident } }
}

const incidentColumns = `id, log_index, agent_id, task_id, log_id, step, policy_id, policy_name, rule_type, manifest_id, severity,
  scope, state, mode, risk_score, violation_details, occurrences, ${utc('first_seen')}, ${utc('last_seen')}, reviewed_by, note,
  history`

/** A row of `incidentColumns` as callers see it. */
function shownIncident(row: Incident): Incident {
  return { ...row, violation_details: shownDetails(row.violation_details) }
}

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
  return incident === undefined ? null : shownIncident(incident)
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
    `update incidents i set state = $3, reviewed_by = $4, note = $5, history = $6
     where i.org_id = $1 and i.id = $2 and ($3 not in ('open', 'active') or not exists (
       select 1 from incidents o where o.org_id = i.org_id and o.id <> i.id and o.policy_id = i.policy_id
         and o.agent_id = i.agent_id and o.task_id is not distinct from i.task_id and o.state in ('open', 'active')))
     returning ${incidentColumns}`,
    [scope.org_id, id, state, reviewed_by, note, JSON.stringify(history)],
  )
  if (incident === undefined) return null
  await appendLeaves(scope, tx, now, [leafOf(id, change)])
  return shownIncident(incident)
}

export async function listIncidents(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  at: Page,
): Promise<Listed<Incident>> {
  const where = filters([scope.org_id], 'org_id = $1')
    .add('state = ?', filter.state)
    .add('severity = ?', filter.severity)
    .add('agent_id = ?', filter.agent_id)
    .add('task_id = ?', filter.task_id)
    .add('policy_id = ?::bigint', filter.policy_id)
  const listing = { table: 'incidents', columns: incidentColumns, key: 'log_index', newest_first: true }
  const { rows, total } = await page<Incident>(tx, listing, where, at)
  return { rows: rows.map(shownIncident), total }
}
