// Finds the entries of a page of the log with indexes only, for every combination of filters.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { beginning, equal, type List, raw, read, rowsOf, within } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { utc } from '../../../db/sql.js'
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

function matching(scope: Scope, { agent_id, step_type }: LogFilter, range: IndexRange): List {
  return rowsOf(scope, 'log_entries e')
    .where(equal({ agent_id, step_type }))
    .where(within('e.log_index', range))
    .select(raw(columns))
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
  const entries = matching(scope, filter, range)
    .where(equal({ task_id: filter.task_id }))
    .where(beginning('e.task_id', filter.q))
    .orderBy('e.seq')
    .limit(limit)
  if (after !== null) entries.where('e.seq', '>', after)
  return read<FoundEntry>(tx, entries)
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
    const entries = matching(scope, filter, range).where(within('e.received_at', month))
    found.push(...(await read<FoundEntry>(tx, entries.orderBy('e.log_index', 'desc').limit(limit - found.length))))
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
  const since = tasks.map(({ first_received_at }) => first_received_at)
  const until = tasks.map(({ last_received_at }) => last_received_at)
  // The times of all tasks exclude partitions at planning time; the times of one task exclude them at run time.
  const ofOne = matching(scope, filter, range)
    .whereRaw('e.task_id = t.task_id and e.received_at between t.since and t.until')
    .whereRaw('e.received_at between ? and ?', [since.toSorted()[0] ?? '', until.toSorted().at(-1) ?? ''])
    .orderBy('e.seq', 'desc')
    .limit(limit)
  const entries = raw(
    `select e.log_index, e.task_id, e.received_at
     from unnest(?::text[], ?::timestamptz[], ?::timestamptz[]) as t(task_id, since, until)
     cross join lateral ? e order by e.log_index desc limit ${limit}`,
    [tasks.map(({ task_id }) => task_id), since, until, ofOne],
  )
  return read<FoundEntry>(tx, entries)
}

function namedTasks(scope: Scope, { q, agent_id }: LogFilter, { first }: IndexRange): List {
  return rowsOf(scope, 'task_heads t')
    .where(beginning('t.task_id', q))
    .where(equal({ agent_id }))
    .where(within('t.last_log_index', { first }))
}

/** One index look-up per row, so that only the tasks of the page are fetched. */
function readTasks(tx: Transaction, tasks: List): Promise<NamedTask[]> {
  const times = `${utc('t.first_received_at')}, ${utc('t.last_received_at')}`
  const found = raw(
    `select t.task_id, t.last_log_index, ${times} from ? p cross join lateral (
       select h.* from task_heads h where h.org_id = p.org_id and h.last_log_index = p.last_log_index limit 1
     ) t`,
    [tasks.select('t.org_id', 't.last_log_index')],
  )
  return read<NamedTask>(tx, found)
}

/** Tasks whose last entry is below the end of the range, newest first. */
function endedBefore(scope: Scope, tx: Transaction, filter: LogFilter, range: IndexRange, count: number) {
  const tasks = namedTasks(scope, filter, range).where(within('t.last_log_index', { end: range.end }))
  return readTasks(tx, tasks.orderBy('t.last_log_index', 'desc').limit(count))
}

/** Tasks with entries on both sides of the end of the range. */
async function activeAcross(scope: Scope, tx: Transaction, filter: LogFilter, range: IndexRange) {
  const { end } = range
  if (end === undefined) return []
  const tasks = namedTasks(scope, filter, range)
  return readTasks(tx, tasks.where('t.last_log_index', '>=', end).where('t.first_log_index', '<', end))
}
