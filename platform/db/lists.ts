// Pages of agents, policies, incidents, erasures, holds and events, with how many there are in all.
import type { Agent, AuditEvent, Erasure, Hold, Incident, Policy } from '@svc/schemas'
import { type AgentRow, agentColumns, agentView, declaredLevel } from '../agents/store/agents.js'
import type { Transaction } from './db.js'
import { erasureColumns } from '../log/read/store/erasures.js'
import { holdColumns } from '../log/retention/store/holds.js'
import { incidentColumns, shownIncident } from '../incidents/store.js'
import { rangeOf } from '../ledger/log-range.js'
import { policyColumns } from '../policies/policies-store.js'
import type { Scope } from './scope.js'
import { type Filters, filters, readByIndex, utc } from './sql.js'

export interface Page {
  readonly limit: number
  /** The key of the last row of the page before. */
  readonly after: string | number | null
}

export interface Listed<T> {
  readonly rows: readonly T[]
  readonly total: number
}

type Filter = Readonly<Record<string, string>>

interface Listing {
  readonly table: string
  readonly columns: string
  readonly key: string
  readonly newest_first: boolean
}

/** One page in the order of the listing's key, which is unique, so that pages neither repeat nor skip a row. */
async function page<T>(
  tx: Transaction,
  { table, columns, key, newest_first }: Listing,
  where: Filters,
  { limit, after }: Page,
): Promise<Listed<T>> {
  await readByIndex(tx)
  const [count] = await tx.query<{ total: number }>(
    `select count(*)::int as total from ${table} where ${where.text}`,
    where.values,
  )
  where.add(`${key} ${newest_first ? '<' : '>'} ?`, after ?? undefined)
  const order = `${key} ${newest_first ? 'desc' : 'asc'}`
  const rows = await tx.query<T>(
    `select ${columns} from ${table} where ${where.text} order by ${order} limit ${limit}`,
    where.values,
  )
  return { rows, total: count?.total ?? 0 }
}

export async function listAgents(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Agent>> {
  const where = filters([scope.org_id], 'org_id = $1')
    .add(`${declaredLevel} = ?`, filter.risk_classification)
    .add('environment = ?', filter.environment)
    .add('active = ?::boolean', filter.active)
    .add('(position(lower(?) in lower(name)) > 0 or position(lower(?) in lower(agent_key)) > 0)', filter.q)
  const listing = { table: 'agents', columns: agentColumns, key: 'agent_id', newest_first: false }
  const { rows, total } = await page<AgentRow>(tx, listing, where, at)
  return { rows: rows.map(agentView), total }
}

export async function listPolicies(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Policy>> {
  const where = filters([scope.org_id], 'org_id = $1 and deleted_at is null')
    .add('agent_id = ?', filter.agent_id)
    .add('scope = ?', filter.scope)
    .add('enabled = ?::boolean', filter.enabled)
  return page<Policy>(tx, { table: 'policies', columns: policyColumns, key: 'id', newest_first: false }, where, at)
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

export async function listErasures(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Erasure>> {
  const where = filters([scope.org_id], 'org_id = $1').add('task_id = ?', filter.task_id)
  return page<Erasure>(tx, { table: 'erasures', columns: erasureColumns, key: 'id', newest_first: true }, where, at)
}

export async function listHolds(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Hold>> {
  const where = filters([scope.org_id], 'org_id = $1')
    .add('task_id = ?', filter.task_id)
    .add('(released_at is null) = ?::boolean', filter.on)
  return page<Hold>(tx, { table: 'holds', columns: holdColumns, key: 'id', newest_first: true }, where, at)
}

const eventColumns = `id, log_index, ${utc('at')}, kind, actor_kind, actor_id, subject_kind, subject_id, data`

export async function listEvents(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<AuditEvent>> {
  const where = filters([scope.org_id], 'org_id = $1')
    .add('kind = ?', filter.kind)
    .add('actor_id = ?', filter.actor)
    .add('subject_id = ?', filter.subject)
    .addRange('log_index', await rangeOf(scope, tx, filter))
  const listing = { table: 'events', columns: eventColumns, key: 'log_index', newest_first: true }
  return page<AuditEvent>(tx, listing, where, at)
}
