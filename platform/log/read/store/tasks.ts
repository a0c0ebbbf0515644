// Summaries of tasks, and the stored rows of one task for the verifier.
import { afterSizeIn, type PublishedRoots, type StoredEntry, type StoredLeaf, type StoredPayload } from '@svc/proof'
import { type TaskSummary, taskStatus } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import {
  beginning,
  type Condition,
  equal,
  type List,
  neighbours,
  type Page,
  raw,
  read,
  rowsOf,
  total,
  within,
} from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex, utc } from '../../../db/sql.js'
import { entrySelect } from '../../../ledger/log.js'
import { type IndexRange, rangeOf } from '../../../ledger/log-range.js'
import { withZone } from '../../../ledger/stored-step.js'
import { publishedRoots } from '../../publish/store/checkpoints.js'

interface TaskFilter {
  readonly agent_id?: string
  readonly agent_key?: string
  readonly environment?: string
  readonly status?: string
  readonly unfinished?: string
  readonly violating?: string
  readonly from?: string
  readonly to?: string
  readonly q?: string
  readonly around?: string
}

const running = 'not t.has_end and not t.has_error'
const violatingSql: Readonly<Record<string, string>> = { true: 't.violations > 0', false: 't.violations = 0' }
const statusSql: Readonly<Record<string, string>> = {
  error: 't.has_error',
  completed: 't.has_end and not t.has_error',
  running,
}

/**
 * A page of tasks, latest first, the total, and the key of the last one if more may follow. A running task is unfinished when its
 * last step is older than `overdue`.
 */
export async function listTasks(
  scope: Scope,
  tx: Transaction,
  filter: TaskFilter,
  page: Page & { readonly skip: number },
  overdue: string,
) {
  await readByIndex(tx)
  const since = filter.unfinished === undefined ? 0 : ((await rangeOf(scope, tx, { from: overdue })).first ?? 0)
  const period = { ...(await rangeOf(scope, tx, filter)), since }
  const all = await countTasks(scope, tx, filter, period)
  const tasks = matching(scope, filter, period)
  const next_to = filter.around === undefined ? undefined : await neighbours(scope, tx, tasks, keyed, filter.around)
  if (page.skip >= all || page.limit === 0) return { tasks: [], total: all, last: null, ...next_to }
  if (page.after !== null) tasks.where('t.last_log_index', '<', page.after)
  const found = tasks
    .select('t.org_id', 't.last_log_index')
    .orderBy('t.last_log_index', 'desc')
    .limit(page.limit)
    .offset(page.skip)
  const rows = await summaries(tx, found, overdue)
  const last = rows.length < page.limit ? null : (rows.at(-1)?.last_log_index ?? null)
  return { tasks: rows.map(summary), total: all, last, ...next_to }
}

/** The log index of the newest step; null without one. */
export async function newestStep(scope: Scope, tx: Transaction): Promise<number | null> {
  const newest = rowsOf(scope, 'task_heads').select(raw('max(last_log_index) as log_index'))
  const [row] = await read<{ log_index: number | null }>(tx, newest)
  return row?.log_index ?? null
}

const keyed = { table: 'task_heads', id: 'task_id', key: 'last_log_index' }

/** The summary of a task; null for an unknown task. */
export async function findTask(
  scope: Scope,
  tx: Transaction,
  task_id: string,
  overdue: string,
): Promise<TaskSummary | null> {
  const found = rowsOf(scope, 'task_heads').where({ task_id }).select('org_id', 'last_log_index')
  const [task] = await summaries(tx, found, overdue)
  return task === undefined ? null : summary(task)
}

/** Skipped tasks are read in the index only; the tasks of the page are fetched. */
async function summaries(tx: Transaction, found: List, overdue: string): Promise<Row[]> {
  const tasks = raw(
    `select t.task_id, t.agent_id, a.name as agent_name, a.environment, t.seq as step_count, t.first_ts, t.last_ts,
       t.has_end, t.has_error, (not t.has_end and not t.has_error and t.last_received_at < ?::timestamptz) as unfinished,
       t.violations, t.last_log_index
     from ? p
     cross join lateral (
       select h.* from task_heads h where h.org_id = p.org_id and h.last_log_index = p.last_log_index limit 1
     ) t
     join agents a on a.org_id = t.org_id and a.agent_id = t.agent_id order by t.last_log_index desc`,
    [overdue, found],
  )
  return read<Row>(tx, tasks)
}

/** The log indexes of a period, and the one before which the last step of an unfinished task is. */
interface Period extends IndexRange {
  readonly since: number
}

/** Times are log indexes, because an index on the last log index of each task returns tasks in order. */
function matching(scope: Scope, filter: TaskFilter, { first, end, since }: Period): List {
  const tasks = rowsOf(scope, 'task_heads t')
    .where(equal({ agent_id: filter.agent_id }))
    .where(within('last_log_index', { first }))
    .where(within('first_log_index', { end }))
    .where(beginning('task_id', filter.q))
  tasks.where(ofAgents(scope, filter))
  for (const condition of [statusSql[filter.status ?? ''], violatingSql[filter.violating ?? '']])
    if (condition !== undefined) tasks.whereRaw(condition)
  if (filter.unfinished === 'true') tasks.whereRaw(running).where('last_log_index', '<', since)
  if (filter.unfinished === 'false') tasks.whereRaw('(t.has_end or t.has_error or t.last_log_index >= ?)', [since])
  return tasks
}

/** By what the agents of the tasks are. */
function ofAgents(scope: Scope, { agent_key, environment }: TaskFilter): Condition {
  return (tasks) => {
    if (agent_key === undefined && environment === undefined) return
    tasks.whereIn('agent_id', rowsOf(scope, 'agents').where(equal({ agent_key, environment })).select('agent_id'))
  }
}

const countSql: Readonly<Record<string, string>> = {
  all: 'running + completed + failed',
  error: 'failed',
  completed: 'completed',
  running: 'running',
}

/** From the counts that the database keeps; other filters count with an index. */
async function countTasks(scope: Scope, tx: Transaction, filter: TaskFilter, period: Period): Promise<number> {
  const { agent_id, from, to, q, unfinished, violating } = filter
  const isKept = q === undefined && unfinished === undefined && violating === undefined
  if (isKept && from === undefined && to === undefined) return keptTotal(scope, tx, filter)
  if (!isKept || from !== undefined || agent_id !== undefined) return total(tx, matching(scope, filter, period))
  // Most periods end lately: few tasks began after them, and those are among the latest.
  const first = period.end
  const later = matching(scope, filter, { ...period, first, end: undefined }).where(
    within('first_log_index', { first }),
  )
  return (await keptTotal(scope, tx, filter)) - (await total(tx, later))
}

function keptTotal(scope: Scope, tx: Transaction, filter: TaskFilter): Promise<number> {
  const { agent_id, status } = filter
  const counts = rowsOf(scope, 'task_counts').where(equal({ agent_id })).where(ofAgents(scope, filter))
  return total(tx, counts, `sum(${countSql[status ?? 'all']})`)
}

interface Row extends Omit<TaskSummary, 'status'> {
  readonly has_end: boolean
  readonly has_error: boolean
  readonly last_log_index: number
}

function summary({ has_end, has_error, last_log_index: _, ...task }: Row): TaskSummary {
  const { first_ts, last_ts } = task
  return { ...task, first_ts: withZone(first_ts), last_ts: withZone(last_ts), status: taskStatus(has_error, has_end) }
}

/**
 * True if this key registered the task's agent, by the head or the first entry of the task: a change of one of them must
 * not hide the task from its owner.
 */
export async function taskBelongsToKey(
  scope: Scope,
  tx: Transaction,
  task_id: string,
  key_id: string,
): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from (
       (select agent_id from task_heads where org_id = $1 and task_id = $2)
       union all
       (select agent_id from log_entries where org_id = $1 and task_id = $2 order by seq limit 1)
     ) t join agents a on a.org_id = $1 and a.agent_id = t.agent_id
     where a.api_key_id = $3 limit 1`,
    [scope.org_id, task_id, key_id],
  )
  return rows.length > 0
}

interface VerifiedRow {
  readonly entry: StoredEntry
  readonly payload: StoredPayload | null
  readonly leaf: StoredLeaf | null
  /** Roots of the checkpoints that the entries of the page name. */
  readonly published: PublishedRoots
}

/** Entries per page: on the embedded database, which answers in this thread, a page took 4 ms. */
const pageSize = 100

/** The stored rows of a task, entry by entry in arrival order, exactly as stored. The caller reads by index. */
export async function* readTaskVerbatim(scope: Scope, tx: Transaction, task_id: string): AsyncGenerator<VerifiedRow> {
  let after = { seq: 0, log_index: -1 }
  for (;;) {
    const entries = await tx.query<StoredEntry>(
      `select ${entrySelect} from log_entries e
       where e.org_id = $1 and e.task_id = $2 and (e.seq, e.log_index) > ($3, $4)
       order by e.seq, e.log_index limit ${pageSize}`,
      [scope.org_id, task_id, after.seq, after.log_index],
    )
    yield* await withRows(scope, tx, entries)
    const last = entries.at(-1)
    if (last === undefined || entries.length < pageSize) return
    after = { seq: last.seq, log_index: last.log_index }
  }
}

/**
 * The entries of a page with the other rows of each, one table at a time. An entry with several payloads, as no writer makes, is there once for each.
 */
async function withRows(scope: Scope, tx: Transaction, entries: readonly StoredEntry[]): Promise<VerifiedRow[]> {
  const values = [scope.org_id, entries.map(({ log_index }) => log_index)]
  const payloads = await tx.query<StoredPayload>(
    rowsAt(`select log_index, ${utc('received_at')}, salts, body from log_payloads`),
    values,
  )
  const leaves = await tx.query<StoredLeaf>(
    rowsAt(`select log_index, type, leaf_hash, ${utc('received_at')} from log_leaves`),
    values,
  )
  const sizes = entries.map(({ record }) => afterSizeIn(record))
  const published = await publishedRoots(scope, tx, sizes)
  const payloadsAt = new Map<number, StoredPayload[]>()
  for (const payload of payloads)
    payloadsAt.set(payload.log_index, [...(payloadsAt.get(payload.log_index) ?? []), payload])
  const leafAt = new Map(leaves.map((leaf) => [leaf.log_index, leaf]))
  return entries.flatMap((entry) => {
    const leaf = leafAt.get(entry.log_index) ?? null
    return (payloadsAt.get(entry.log_index) ?? [null]).map((payload) => ({ entry, payload, leaf, published }))
  })
}

/** The offset has the rows looked up one by one: without statistics, a join reads all rows of the log. */
const rowsAt = (select: string) =>
  `select r.* from unnest($2::bigint[]) as i(at) cross join lateral (${select} where org_id = $1 and log_index = i.at offset 0) r`
