// Which entries are on a page of the log: found by indexes alone, whichever filters are given together.
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
  /** The beginning of the task_id. */
  readonly q?: string
}

export interface Place {
  readonly log_index: number
  readonly task_id: string
  readonly received_at: string
}

const columns = `e.log_index, e.task_id, ${utc('e.received_at')}`

/** The places of one page: a task's in arrival order after `after`, a seq; others newest first below `after`, a log index. */
export async function findPlaces(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  limit: number,
  after: number | null,
): Promise<Place[]> {
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
): Promise<Place[]> {
  const where = conditions(scope, filter, range)
    .add('e.task_id = ?', filter.task_id)
    .addRange('e.task_id collate "C"', filter.q === undefined ? {} : namesFrom(filter.q))
    .add('e.seq > ?', after ?? undefined)
  return tx.query<Place>(
    `select ${columns} from log_entries e where ${where.text} order by e.seq limit ${limit}`,
    where.values,
  )
}

/**
 * The newest first, month by month: each is one partition. Asked for all of them at once, the database looks for the
 * newest entry of each before it answers with one, and a month without any is read to its end.
 */
async function newest(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  range: IndexRange,
  limit: number,
): Promise<Place[]> {
  const found: Place[] = []
  for (const month of await monthsOf(scope, tx, range)) {
    const where = conditions(scope, filter, range).addRange('e.received_at', month)
    const rows = await tx.query<Place>(
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

/** The months in UTC that hold the range, the latest first. */
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

/** The first moment of the month so many after the time's. */
function monthAt(time: string, after: number): string {
  const date = new Date(time)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + after)).toISOString()
}

interface NamedTask {
  readonly task_id: string
  readonly last_log_index: number
  readonly first_received_at: string
  readonly last_received_at: string
}

/** So many tasks nearly always fill a page. */
const fewTasks = 20
/** Entries of one type that are looked at before their tasks are. */
const fewOfType = 2000

/**
 * Entries of the tasks whose names begin with `q`, task by task, those that ended last first: an entry is on the page once
 * every task that is left ended before it.
 */
async function ofNamed(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter & { readonly q: string },
  range: IndexRange,
  limit: number,
): Promise<Place[]> {
  if (filter.step_type !== undefined) {
    // A rare type is answered by its own entries, and so is a name that most of the newest ones have.
    const ofType = await newest(scope, tx, filter, range, fewOfType)
    const named = ofType.filter(({ task_id }) => task_id.startsWith(filter.q))
    if (named.length >= limit || ofType.length < fewOfType) return named.slice(0, limit)
  }
  let found = await ofTasks(scope, tx, filter, range, await activeAcross(scope, tx, filter, range), limit)
  let { end } = range
  for (let count = fewTasks; ; count *= 4) {
    const tasks = await endedBefore(scope, tx, filter, { ...range, end }, count)
    const places = await ofTasks(scope, tx, filter, range, tasks, limit)
    found = [...found, ...places].sort((a, b) => b.log_index - a.log_index).slice(0, limit)
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
): Promise<Place[]> {
  if (tasks.length === 0) return []
  const where = conditions(scope, filter, range)
  const given = where.values.length
  const since = tasks.map(({ first_received_at }) => first_received_at)
  const until = tasks.map(({ last_received_at }) => last_received_at)
  // The times of all tasks leave out partitions when the statement is planned, those of one task when it is run.
  return tx.query<Place>(
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

/** One by one, so that a few tasks of many are fetched by the index. */
const taskAtPlace = `cross join lateral (
  select h.* from task_heads h where h.org_id = $1 and h.last_log_index = p.last_log_index limit 1
) t`

/** Tasks with their last entry below the end of the range, the newest first. */
function endedBefore(scope: Scope, tx: Transaction, filter: LogFilter, range: IndexRange, count: number) {
  const where = namedTasks(scope, filter, range).add('t.last_log_index < ?', range.end)
  return tx.query<NamedTask>(
    `select ${taskColumns} from (
       select t.last_log_index from task_heads t where ${where.text} order by t.last_log_index desc limit ${count}
     ) p ${taskAtPlace}`,
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
    `select ${taskColumns} from (select t.last_log_index from task_heads t where ${where.text}) p ${taskAtPlace}`,
    where.values,
  )
}
