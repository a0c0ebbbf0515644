// Finds the entries of a page of the log with indexes only, for every combination of filters.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { filters, namesFrom, utc } from '../../../db/sql.js'
import { type IndexRange, rangeOf } from '../../../ledger/log-range.js'

export interface LogFilter {
  readonly task_id?: string
  readonly agent_id?: string
  readonly step_type?: string
  readonly from?: string
  readonly to?: string
  /** A prefix of the task_id. */
  readonly q?: string
}

interface FoundEntry {
  readonly log_index: number
  readonly task_id: string
  readonly received_at: string
}

const columns = `e.log_index, e.task_id, ${utc('e.received_at')}`

/** The entries of a page: those of one task in order above the seq `after`; others newest first below the log index `after`. */
export async function findEntries(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  limit: number,
  after: number | null,
): Promise<FoundEntry[]> {
  const range = await rangeOf(scope, tx, filter)
  const { task_id, q } = filter
  if (task_id !== undefined) return ofTask(scope, tx, { ...filter, task_id }, range, limit, after)
  const end = Math.min(range.end ?? Infinity, after ?? Infinity)
  const page = Number.isFinite(end) ? { ...range, end } : range
  return q === undefined ? newest(scope, tx, filter, page, limit) : ofNamed(scope, tx, { ...filter, q }, page, limit)
}

function conditions(scope: Scope, { agent_id, step_type }: LogFilter, range: IndexRange) {
  return filters([scope.org_id], 'e.org_id = $1')
    .add('e.agent_id = ?', agent_id)
    .add('e.step_type = ?', step_type)
    .addRange('e.log_index', range)
}

/** Ordered by seq, as the index of a task is; log indexes are in the same order. */
async function ofTask(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter & { readonly task_id: string },
  range: IndexRange,
  limit: number,
  after: number | null,
): Promise<FoundEntry[]> {
  const where = conditions(scope, filter, range)
    .add('e.task_id = ?', filter.task_id)
    .addRange('e.task_id collate "C"', filter.q === undefined ? {} : namesFrom(filter.q))
    .add('e.seq > ?', after ?? undefined)
  return tx.query<FoundEntry>(
    `select ${columns} from log_entries e where ${where.text} order by e.seq limit ${limit}`,
    where.values,
  )
}

/**
 * Newest first, one month and so one partition at a time. One query over all partitions would look for the newest
 * entry of each before it returned one, and would read a month without matches to its end.
 */
async function newest(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  range: IndexRange,
  limit: number,
): Promise<FoundEntry[]> {
  const found: FoundEntry[] = []
  for (const month of await monthsOf(scope, tx, range)) {
    const where = conditions(scope, filter, range).addRange('e.received_at', month)
    const rows = await tx.query<FoundEntry>(
      `select ${columns} from log_entries e where ${where.text} order by e.log_index desc limit ${limit - found.length}`,
      where.values,
    )
    found.push(...rows)
    if (found.length >= limit) break
  }
  return found
}

interface Month {
  readonly first: string
  readonly end: string
}

/** The months (UTC) of the range, latest first. */
async function monthsOf({ org_id }: Scope, tx: Transaction, { first, end }: IndexRange): Promise<Month[]> {
  const [row] = await tx.query<{ oldest: string | null; newest: string | null }>(
    `select (select ${utc('received_at')} from log_leaves where org_id = $1 and log_index = $2) as oldest,
       (select ${utc('received_at')} from log_leaves where org_id = $1
         and log_index = least($3::bigint, (select size from org_log where org_id = $1)) - 1) as newest`,
    [org_id, first ?? 0, end ?? null],
  )
  const { oldest = null, newest: latest = null } = row ?? {}
  if (oldest === null || latest === null) return []
  const months: Month[] = []
  for (let at = monthAt(latest, 0); at >= monthAt(oldest, 0); at = monthAt(at, -1))
    months.push({ first: at, end: monthAt(at, 1) })
  return months
}

/** The first moment of a month (UTC): `offset` months after the month of `time`. */
function monthAt(time: string, offset: number): string {
  const date = new Date(time)
  return isoTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset))
}

interface NamedTask {
  readonly task_id: string
  readonly last_log_index: number
  readonly first_received_at: string
  readonly last_received_at: string
}

/** The number of tasks in the first read: they nearly always fill a page. */
const firstTasks = 20
/** The maximum number of entries of one type that are read before tasks. */
const maxOfType = 2000

/**
 * Entries of the tasks whose names begin with `q`, task by task, latest end first. The page is complete when every
 * remaining task ended before its last entry.
 */
async function ofNamed(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter & { readonly q: string },
  range: IndexRange,
  limit: number,
): Promise<FoundEntry[]> {
  if (filter.step_type !== undefined) {
    // The newest entries of a type suffice when the type is rare or when most of them have the prefix.
    const ofType = await newest(scope, tx, filter, range, maxOfType)
    const named = ofType.filter(({ task_id }) => task_id.startsWith(filter.q))
    if (named.length >= limit || ofType.length < maxOfType) return named.slice(0, limit)
  }
  let found = await ofTasks(scope, tx, filter, range, await activeAcross(scope, tx, filter, range), limit)
  let { end } = range
  for (let count = firstTasks; ; count *= 4) {
    const tasks = await endedBefore(scope, tx, filter, { ...range, end }, count)
    const entries = await ofTasks(scope, tx, filter, range, tasks, limit)
    found = [...found, ...entries].sort((a, b) => b.log_index - a.log_index).slice(0, limit)
    if (tasks.length < count) return found
    end = Math.min(...tasks.map(({ last_log_index }) => last_log_index))
    if (found.length === limit && (found.at(-1)?.log_index ?? 0) >= end) return found
  }
}

async function ofTasks(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  range: IndexRange,
  tasks: readonly NamedTask[],
  limit: number,
): Promise<FoundEntry[]> {
  if (tasks.length === 0) return []
  const where = conditions(scope, filter, range)
  const given = where.values.length
  const since = tasks.map(({ first_received_at }) => first_received_at)
  const until = tasks.map(({ last_received_at }) => last_received_at)
  // The times of all tasks exclude partitions at planning time; the times of one task exclude them at run time.
  return tx.query<FoundEntry>(
    `select e.log_index, e.task_id, e.received_at
     from unnest($${given + 1}::text[], $${given + 2}::timestamptz[], $${given + 3}::timestamptz[]) as t(task_id, since, until)
     cross join lateral (
       select ${columns} from log_entries e
       where ${where.text} and e.task_id = t.task_id and e.received_at between t.since and t.until
         and e.received_at between $${given + 4} and $${given + 5}
       order by e.seq desc limit ${limit}
     ) e order by e.log_index desc limit ${limit}`,
    [...where.values, tasks.map(({ task_id }) => task_id), since, until, since.toSorted()[0], until.toSorted().at(-1)],
  )
}

function namedTasks(scope: Scope, { q, agent_id }: LogFilter, { first }: IndexRange) {
  return filters([scope.org_id], 't.org_id = $1')
    .addRange('t.task_id collate "C"', q === undefined ? {} : namesFrom(q))
    .add('t.agent_id = ?', agent_id)
    .add('t.last_log_index >= ?', first)
}

const taskColumns = `t.task_id, t.last_log_index, ${utc('t.first_received_at')}, ${utc('t.last_received_at')}`

/** One index look-up per row, so that only the tasks of the page are fetched. */
const taskAtIndex = `cross join lateral (
  select h.* from task_heads h where h.org_id = $1 and h.last_log_index = p.last_log_index limit 1
) t`

/** Tasks whose last entry is below the end of the range, newest first. */
function endedBefore(scope: Scope, tx: Transaction, filter: LogFilter, range: IndexRange, count: number) {
  const where = namedTasks(scope, filter, range).add('t.last_log_index < ?', range.end)
  return tx.query<NamedTask>(
    `select ${taskColumns} from (
       select t.last_log_index from task_heads t where ${where.text} order by t.last_log_index desc limit ${count}
     ) p ${taskAtIndex}`,
    where.values,
  )
}

/** Tasks with entries on both sides of the end of the range. */
async function activeAcross(scope: Scope, tx: Transaction, filter: LogFilter, range: IndexRange) {
  if (range.end === undefined) return []
  const where = namedTasks(scope, filter, range)
    .add('t.last_log_index >= ?', range.end)
    .add('t.first_log_index < ?', range.end)
  return tx.query<NamedTask>(
    `select ${taskColumns} from (select t.last_log_index from task_heads t where ${where.text}) p ${taskAtIndex}`,
    where.values,
  )
}
