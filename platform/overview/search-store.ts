// What a search compares: ids and names, each with an index or among few rows.
import type { SearchResult } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import { beginning, type Filter, type List, raw, read, rowsOf } from '../db/list.js'
import type { Scope } from '../db/scope.js'
import { utc } from '../db/sql.js'
import { findIncident } from '../incidents/store/incidents.js'
import { listGroups } from '../incidents/store/list-groups.js'

/** The maximum number of results of each kind. */
const maxOfKind = 8
/** The groups of incidents whose reasons are read: those that were last seen. */
const maxGroups = 100

/** Tasks whose ids begin with the text; the task of this id comes first. */
export function findTasks(scope: Scope, tx: Transaction, q: string): Promise<SearchResult[]> {
  const tasks = rowsOf(scope, 'task_heads t')
    .where(beginning('t.task_id', q))
    .orderByRaw('t.task_id collate "C"')
    .limit(maxOfKind)
  const named = raw(
    `select 'task' as kind, t.task_id as id, t.task_id as title, a.name as detail, ${utc('t.last_received_at', 'at')}
     from ? t join agents a on a.org_id = t.org_id and a.agent_id = t.agent_id order by t.task_id collate "C"`,
    [tasks.select(raw('t.*'))],
  )
  return read<SearchResult>(tx, named)
}

/** Agents with this id or key, then those whose name or key contains the text in any case. */
export function findAgents(scope: Scope, tx: Transaction, q: string): Promise<SearchResult[]> {
  const columns = `'agent' as kind, agent_id as id, name as title, agent_key as detail, ${utc('created_at', 'at')}`
  const agents = rowsOf(scope, 'agents').whereRaw(
    '(agent_id = ? or strpos(lower(name), lower(?)) > 0 or strpos(lower(agent_key), lower(?)) > 0)',
    [q, q, q],
  )
  return firstOf(tx, agents, columns, '(agent_id = ? or agent_key = ?) desc, name, agent_id', [q, q])
}

/** The policy with this id, then those whose name contains the text in any case, without deleted ones. */
export function findPolicies(scope: Scope, tx: Transaction, q: string): Promise<SearchResult[]> {
  const columns = `'policy' as kind, id::text as id, name as title, rule_type as detail, ${utc('updated_at', 'at')}`
  const id = /^\d{1,15}$/.test(q) ? q : '0'
  const policies = rowsOf(scope, 'policies')
    .whereRaw('deleted_at is null')
    .whereRaw('(id = ? or strpos(lower(name), lower(?)) > 0)', [id, q])
  return firstOf(tx, policies, columns, '(id = ?) desc, id desc', [id])
}

function firstOf(tx: Transaction, list: List, columns: string, order: string, values: readonly string[]) {
  return read<SearchResult>(
    tx,
    list
      .select(raw(columns))
      .orderByRaw(order, [...values])
      .limit(maxOfKind),
  )
}

/** The incident with this id, then the latest ones of the groups whose policy or latest reason contains the text in any case. */
export async function findInIncidents(scope: Scope, tx: Transaction, q: string): Promise<SearchResult[]> {
  const exact = await findIncident(scope, tx, q)
  const all: Filter = {}
  const { rows } = await listGroups(scope, tx, all, { limit: maxGroups, after: null })
  const text = q.toLowerCase()
  const grouped = rows
    .filter(({ policy_name, reason }) => `${policy_name}\n${reason}`.toLowerCase().includes(text))
    .map(({ latest_incident_id, policy_name, reason, last_seen }) =>
      resultOf(latest_incident_id, policy_name, reason, last_seen),
    )
  const found =
    exact === null
      ? grouped
      : [resultOf(exact.id, exact.policy_name, exact.violation_details.reason, exact.last_seen), ...grouped]
  return found.slice(0, maxOfKind)
}

function resultOf(id: string, title: string, detail: string, at: string): SearchResult {
  return { kind: 'incident', id, title, detail, at }
}
