// Lists of incidents and their totals. Filters are plain comparisons, which indexes serve under row-level security.
import type { Incident } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Filter, Listed, Page } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { type Filters, filters, readByIndex } from '../../db/sql.js'
import { readLogSize } from '../../ledger/log.js'
import { type IndexRange, rangeOf } from '../../ledger/log-range.js'
import { incidentColumns } from './incidents.js'

/** From the lowest. */
const severities = ['low', 'medium', 'high', 'critical']

/** A page of incidents, newest first; `state` and `severity` are lists with commas. */
export async function listIncidents(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  { limit, after }: Page,
): Promise<Listed<Incident>> {
  await readByIndex(tx)
  const names = filter.q === undefined ? undefined : await policyNames(scope, tx, filter.q)
  const total = await totalOf(scope, tx, filter, names)
  if (total === 0) return { rows: [], total }
  const where = await conditions(scope, tx, filter, names)
  where.add('log_index < ?', after ?? undefined)
  // The page is found in the index alone; rows of the table are read for it only.
  const rows = await tx.query<Incident>(
    `select ${incidentColumns} from incidents where org_id = $1 and log_index = any(array(
       select log_index from incidents where ${where.text} order by log_index desc limit ${limit}
     )) order by log_index desc, id limit ${limit}`,
    where.values,
  )
  return { rows, total }
}

/** The names of policies with incidents that contain the text, in any case. */
async function policyNames({ org_id }: Scope, tx: Transaction, q: string): Promise<string[]> {
  const rows = await tx.query<{ policy_name: string }>(
    'select distinct policy_name from incident_counts where org_id = $1 and strpos(lower(policy_name), lower($2)) > 0',
    [org_id, q],
  )
  return rows.map(({ policy_name }) => policy_name)
}

/** From the counts that the database keeps; with a time or a task, from the index of these incidents. */
async function totalOf(scope: Scope, tx: Transaction, filter: Filter, names: string[] | undefined): Promise<number> {
  if (filter.task_id !== undefined) return countIn(tx, await conditions(scope, tx, filter, names))
  if (filter.from === undefined && filter.to === undefined) return keptTotal(scope, tx, filter, names)
  const { first = 0, end = Number.MAX_SAFE_INTEGER } = await period(scope, tx, filter)
  const size = await readLogSize(scope, tx)
  const countRange = (range: IndexRange) => countIn(tx, counted(scope, filter, names).addRange('log_index', range))
  if (Math.min(end, size) - first <= size / 2) return countRange({ first, end })
  // Fewer incidents are outside.
  const before = first === 0 ? 0 : await countRange({ end: first })
  const after = end >= size ? 0 : await countRange({ first: end })
  return (await keptTotal(scope, tx, filter, names)) - before - after
}

async function keptTotal(scope: Scope, tx: Transaction, filter: Filter, names: string[] | undefined): Promise<number> {
  const where = counted(scope, filter, names)
  const [row] = await tx.query<{ total: number }>(
    `select coalesce(sum(incidents), 0)::float8 as total from incident_counts where ${where.text}`,
    where.values,
  )
  return row?.total ?? 0
}

/** Counts in an index: the planner may prefer to read all rows of the organization, which takes three times as long. */
async function countIn(tx: Transaction, where: Filters): Promise<number> {
  await tx.query('set local enable_bitmapscan = off')
  const [row] = await tx.query<{ total: number }>(
    `select count(*)::int as total from incidents where ${where.text}`,
    where.values,
  )
  return row?.total ?? 0
}

async function conditions(scope: Scope, tx: Transaction, filter: Filter, names: string[] | undefined) {
  const where = counted(scope, filter, names).add('task_id = ?', filter.task_id)
  return where.addRange('log_index', await period(scope, tx, filter))
}

/** The log indexes of the incidents that were first seen in the time of the filter. */
async function period(scope: Scope, tx: Transaction, { from, to }: Filter): Promise<IndexRange> {
  if (from === undefined && to === undefined) return {}
  return rangeOf(scope, tx, { ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
}

/** The conditions on columns that the counts have as well. */
function counted({ org_id }: Scope, filter: Filter, names: string[] | undefined): Filters {
  const { min_severity } = filter
  const least = min_severity === undefined ? undefined : severities.slice(severities.indexOf(min_severity))
  return filters([org_id], 'org_id = $1')
    .add('state = any(?::text[])', filter.state?.split(','))
    .add('severity = any(?::text[])', filter.severity?.split(','))
    .add('severity = any(?::text[])', least)
    .add('agent_id = ?', filter.agent_id)
    .add('policy_id = ?::bigint', filter.policy_id)
    .add('manifest_id = ?', filter.manifest_id)
    .add('rule_type = ?', filter.rule_type)
    .add('scope = ?', filter.scope)
    .add('mode = ?', filter.mode)
    .add('effect = any(?::text[])', filter.effect?.split(','))
    .add('policy_name = any(?::text[])', names)
}
