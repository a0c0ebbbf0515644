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
import { actorText, type Scope } from '../../db/scope.js'
import { readByIndex } from '../../db/sql.js'
import { cursorInvalid } from '../../http/paging.js'
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

/** What a rank adds to the log index: more than any log has entries. */
const perRank = 100_000_000_000_000

function isUrgency(key: number): boolean {
  return key >= perRank
}

/** The column that orders the list. */
function keyOf({ order }: Filter): 'log_index' | 'urgency' {
  return order === 'severity' ? 'urgency' : 'log_index'
}

/** The position of an incident in the list, for a cursor. */
export function positionOf({ severity, effects, log_index }: Incident, filter: Filter): number {
  if (keyOf(filter) === 'log_index') return log_index
  const rank = (severities.indexOf(severity) + 1) * 2 + (effects.executed > 0 ? 1 : 0)
  return rank * perRank + log_index
}

/** A page of incidents, newest first or by severity; `state` and `severity` are lists with commas. Throws INVALID for a cursor of another order. */
export async function listIncidents(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  { limit, after }: Page,
): Promise<Listed<Incident>> {
  const key = keyOf(filter)
  if (after !== null && isUrgency(Number(after)) !== (key === 'urgency')) throw cursorInvalid()
  await readByIndex(tx)
  const names = filter.q === undefined ? undefined : await policyNames(scope, tx, filter.q)
  const counted = onCounted(scope, filter, names)
  const range = await rangeOf(scope, tx, filter)
  const all = await totalOf(scope, tx, filter, counted, range)
  const matching = rowsOf(scope, 'incidents')
    .where(counted)
    .where(equal({ task_id: filter.task_id, step: filter.step }))
    .where(within('log_index', range))
  const next_to =
    filter.around === undefined
      ? undefined
      : await neighbours(scope, tx, matching, { table: 'incidents', id: 'id', key }, filter.around)
  const listed = { total: all, neighbours: next_to }
  if (all === 0) return { rows: [], ...listed }
  const found = matching
    .where(within(key, { end: after ?? undefined }))
    .select(key)
    .orderBy(key, 'desc')
    .limit(limit)
  // The page is found in the index alone; rows of the table are read for it only.
  const incidents = rowsOf(scope, 'incidents')
    .whereRaw(`${key} = any(array?)`, [found])
    .select(raw(incidentColumns))
    .orderByRaw(`${key} desc, id`)
    .limit(limit)
  return { rows: await read<Incident>(tx, incidents), ...listed }
}

/** The names of policies with incidents that contain the text, in any case. */
export async function policyNames({ org_id }: Scope, tx: Transaction, q: string): Promise<string[]> {
  const rows = await tx.query<{ policy_name: string }>(
    'select distinct policy_name from incident_counts where org_id = $1 and strpos(lower(policy_name), lower($2)) > 0',
    [org_id, q],
  )
  return rows.map(({ policy_name }) => policy_name)
}

/** From the counts that the database keeps; with a time, a task or a step, from the index of these incidents. */
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
      .where(equal({ task_id: filter.task_id, step: filter.step }))
    return total(tx, incidents.where(within('log_index', part)))
  }
  if (filter.task_id !== undefined || filter.step !== undefined) return countIn(range)
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
export function onCounted(caller: Scope, filter: Filter, names: string[] | undefined): Condition {
  const { agent_id, policy_id, manifest_id, rule_type, scope, mode, code, min_severity } = filter
  const reviewed_by = filter.reviewed_by === 'me' ? actorText(caller) : filter.reviewed_by
  return (list) => {
    list
      .where(equal({ agent_id, policy_id, manifest_id, rule_type, scope, mode, code, reviewed_by }))
      .where(among('state', filter.state))
      .where(among('severity', filter.severity))
      .where(among('effect', filter.effect))
    if (min_severity !== undefined) list.whereIn('severity', severities.slice(severities.indexOf(min_severity)))
    if (names !== undefined) list.whereRaw('policy_name = any(?)', [names])
  }
}
