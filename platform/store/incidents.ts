// Incidents: violations kept until somebody deals with them. One per policy, agent and task while open or active.
import type { Incident } from '@svc/schemas'
import type { Transaction } from './db.js'
import type { Scope } from './scope.js'
import { insertRows } from './sql.js'

/** What makes a violation the same occurrence as an earlier one. */
export interface IncidentKey {
  readonly policy_id: number
  readonly agent_id: string
  readonly task_id: string | null
}

export interface KnownIncident extends IncidentKey {
  readonly id: string
  readonly state: Incident['state']
}

/** The latest incident of each key, whatever its state. The log must be locked, so that nobody else adds one. */
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

/** Counts further violations on incidents that exist; times are ms since 1970. */
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
    [scope.org_id, new Date(now).toISOString(), counts.map((row) => row.id), counts.map((row) => row.occurrences)],
  )
}

export type NewIncident = Omit<Incident, 'reviewed_by' | 'note' | 'history' | 'state'>

const types = {
  ...{
    org_id: 'text',
    id: 'text',
    agent_id: 'text',
    task_id: 'text',
    log_id: 'text',
    step: 'bigint',
    policy_id: 'bigint',
  },
  ...{ policy_name: 'text', rule_type: 'text', manifest_id: 'text', severity: 'text', scope: 'text', mode: 'text' },
  ...{ risk_score: 'float8', violation_details: 'jsonb', occurrences: 'int', first_seen: 'timestamptz' },
  ...{ last_seen: 'timestamptz', state: 'text' },
} as const

/** Opens new incidents. */
export async function insertIncidents(scope: Scope, tx: Transaction, incidents: readonly NewIncident[]): Promise<void> {
  if (incidents.length === 0) return
  const rows = incidents.map(
    (incident): Record<keyof typeof types, unknown> => ({
      ...incident,
      org_id: scope.org_id,
      state: 'open',
      violation_details: JSON.stringify(incident.violation_details),
    }),
  )
  const columns = Object.keys(types) as (keyof typeof types)[]
  await tx.query(
    insertRows('incidents', types),
    columns.map((column) => rows.map((row) => row[column])),
  )
}
