// Lists of incidents and their totals. Filters are plain comparisons, which indexes serve under row-level security.
import type { Incident, Overview } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import {
  among,
  type Condition,
  equal,
  type Filter,
  type Listed,
  neighbours,
  type Page,
  raw,
  read,
  rowsOf,
  total,
  within,
} from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex } from '../../db/sql.js'
import { readLogSize } from '../../ledger/log.js'
import { type IndexRange, rangeOf } from '../../ledger/log-range.js'
import { incidentColumns } from './incidents.js'

/** From the lowest. */
const severities = ['low', 'medium', 'high', 'critical']

/** The numbers of incidents that are open or in review, by severity. */
export async function countOpen(scope: Scope, tx: Transaction): Promise<Overview['open_incidents']> {
  const open = rowsOf(scope, 'incident_counts').whereIn('state', ['open', 'active']).groupBy('severity')
  const rows = await read<{ severity: Incident['severity']; incidents: number }>(
    tx,
    open.select(raw('severity, sum(incidents)::float8 as incidents')),
  )
  const found = Object.fromEntries(rows.map(({ severity, incidents }) => [severity, incidents]))
  return { critical: 0, high: 0, medium: 0, low: 0, ...found }
}

/** A page of incidents, newest first; `state` and `severity` are lists with commas. */
export async function listIncidents(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  { limit, after }: Page,
): Promise<Listed<Incident>> {
  await readByIndex(tx)
  const names = filter.q === undefined ? undefined : await policyNames(scope, tx, filter.q)
  const counted = onCounted(filter, names)
  const range = await rangeOf(scope, tx, filter)
  const all = await totalOf(scope, tx, filter, counted, range)
  const matching = rowsOf(scope, 'incidents')
    .where(counted)
    .where(equal({ task_id: filter.task_id }))
    .where(within('log_index', range))
  const next_to = filter.around === undefined ? undefined : await neighbours(scope, tx, matching, keyed, filter.around)
  const listed = { total: all, neighbours: next_to }
  if (all === 0) return { rows: [], ...listed }
  const found = matching
    .where(within('log_index', { end: after ?? undefined }))
    .select('log_index')
    .orderBy('log_index', 'desc')
    .limit(limit)
  // The page is found in the index alone; rows of the table are read for it only.
  const incidents = rowsOf(scope, 'incidents')
    .whereRaw('log_index = any(array?)', [found])
    .select(raw(incidentColumns))
    .orderByRaw('log_index desc, id')
    .limit(limit)
  return { rows: await read<Incident>(tx, incidents), ...listed }
}

const keyed = { table: 'incidents', id: 'id', key: 'log_index' }

/** The names of policies with incidents that contain the text, in any case. */
export async function policyNames({ org_id }: Scope, tx: Transaction, q: string): Promise<string[]> {
  const rows = await tx.query<{ policy_name: string }>(
    'select distinct policy_name from incident_counts where org_id = $1 and strpos(lower(policy_name), lower($2)) > 0',
    [org_id, q],
  )
  return rows.map(({ policy_name }) => policy_name)
}

/** From the counts that the database keeps; with a time or a task, from the index of these incidents. */
async function totalOf(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  counted: Condition,
  range: IndexRange,
): Promise<number> {
  const countIn = async (part: IndexRange) => {
    // The planner may prefer to read all rows of the organization, which takes three times as long.
    await tx.query('set local enable_bitmapscan = off')
    const incidents = rowsOf(scope, 'incidents')
      .where(counted)
      .where(equal({ task_id: filter.task_id }))
    return total(tx, incidents.where(within('log_index', part)))
  }
  if (filter.task_id !== undefined) return countIn(range)
  const kept = () => total(tx, rowsOf(scope, 'incident_counts').where(counted), 'sum(incidents)')
  if (filter.from === undefined && filter.to === undefined) return kept()
  const { first = 0, end = Number.MAX_SAFE_INTEGER } = range
  const size = await readLogSize(scope, tx)
  if (Math.min(end, size) - first <= size / 2) return countIn({ first, end })
  // Fewer incidents are outside.
  const before = first === 0 ? 0 : await countIn({ end: first })
  const after = end >= size ? 0 : await countIn({ first: end })
  return (await kept()) - before - after
}

/** The conditions on columns that the counts have as well. */
export function onCounted(filter: Filter, names: string[] | undefined): Condition {
  const { agent_id, policy_id, manifest_id, rule_type, scope, mode, code, min_severity } = filter
  return (list) => {
    list
      .where(equal({ agent_id, policy_id, manifest_id, rule_type, scope, mode, code }))
      .where(among('state', filter.state))
      .where(among('severity', filter.severity))
      .where(among('effect', filter.effect))
    if (min_severity !== undefined) list.whereIn('severity', severities.slice(severities.indexOf(min_severity)))
    if (names !== undefined) list.whereRaw('policy_name = any(?)', [names])
  }
}
