// Summaries of tasks, and the stored rows of one task for the verifier.
import { afterSizeIn, type PublishedRoots, type StoredEntry, type StoredLeaf, type StoredPayload } from '@svc/proof'
import { type TaskSummary, taskStatus } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { type Filters, filters, namesFrom, readByIndex, utc } from '../../../db/sql.js'
import { entrySelect } from '../../../ledger/log.js'
import { rangeOf } from '../../../ledger/log-range.js'
import { withZone } from '../../../ledger/stored-step.js'
import { publishedRoots } from '../../publish/store/checkpoints.js'

interface TaskFilter {
  readonly agent_id?: string
  readonly environment?: string
  readonly status?: string
  readonly unfinished?: string
  readonly from?: string
  readonly to?: string
  readonly q?: string
}

const running = 'not t.has_end and not t.has_error'
const statusSql: Readonly<Record<string, string>> = {
  error: 't.has_error',
  completed: 't.has_end and not t.has_error',
  running,
}

/** A page of tasks, latest first, and the total. A running task is unfinished when its last step is older than `overdue`. */
export async function listTasks(
  scope: Scope,
  tx: Transaction,
  filter: TaskFilter,
  page: { skip: number; limit: number },
  overdue: string,
) {
  await readByIndex(tx)
  const total = await countTasks(scope, tx, filter, overdue)
  if (page.skip >= total) return { tasks: [], total }
  const where = await conditions(scope, tx, filter, overdue)
  const last = where.values.push(overdue)
  // Skipped tasks are read in the index only; the tasks of the page are fetched.
  const rows = await tx.query<Row>(
    `select t.task_id, t.agent_id, a.name as agent_name, a.environment, t.seq as step_count, t.first_ts, t.last_ts,
       t.has_end, t.has_error, (not t.has_end and not t.has_error and t.last_received_at < $${last}::timestamptz) as unfinished
     from (
       select t.org_id, t.last_log_index from task_heads t where ${where.text}
       order by t.last_log_index desc limit ${page.limit} offset ${page.skip}
     ) p
     cross join lateral (
       select h.* from task_heads h where h.org_id = p.org_id and h.last_log_index = p.last_log_index limit 1
     ) t
     join agents a on a.org_id = t.org_id and a.agent_id = t.agent_id order by t.last_log_index desc`,
    where.values,
  )
  return { tasks: rows.map(summary), total }
}

/** Times become log indexes, because an index on the last log index of each task returns tasks in order. */
async function conditions(scope: Scope, tx: Transaction, filter: TaskFilter, overdue: string): Promise<Filters> {
  const { first, end } = await rangeOf(scope, tx, filter)
  const where = filters([scope.org_id], 't.org_id = $1')
    .add('t.agent_id = ?', filter.agent_id)
    .add(
      't.agent_id in (select a.agent_id from agents a where a.org_id = $1 and a.environment = ?)',
      filter.environment,
    )
    .add('t.last_log_index >= ?', first)
    .add('t.first_log_index < ?', end)
    .addRange('t.task_id collate "C"', filter.q === undefined ? {} : namesFrom(filter.q))
    .addText(filter.status === undefined ? null : (statusSql[filter.status] ?? null))
  if (filter.unfinished === undefined) return where
  const { first: since } = await rangeOf(scope, tx, { from: overdue })
  return filter.unfinished === 'true'
    ? where.addText(running).add('t.last_log_index < ?', since)
    : where.add('(t.has_end or t.has_error or t.last_log_index >= ?)', since)
}

const countSql: Readonly<Record<string, string>> = {
  all: 'c.running + c.completed + c.failed',
  error: 'c.failed',
  completed: 'c.completed',
  running: 'c.running',
}

/** From the counts that the database keeps; other filters count with an index. */
async function countTasks(scope: Scope, tx: Transaction, filter: TaskFilter, overdue: string): Promise<number> {
  const { from, to, q, unfinished } = filter
  if (q !== undefined || unfinished !== undefined) return countIn(tx, await conditions(scope, tx, filter, overdue))
  if (from === undefined && to === undefined) return keptTotal(scope, tx, filter)
  if (from === undefined && filter.agent_id === undefined) return countUntil(scope, tx, filter, overdue)
  return countIn(tx, await conditions(scope, tx, filter, overdue))
}

async function keptTotal(scope: Scope, tx: Transaction, { agent_id, environment, status }: TaskFilter) {
  const where = filters([scope.org_id], 'c.org_id = $1')
    .add('c.agent_id = ?', agent_id)
    .add('c.agent_id in (select a.agent_id from agents a where a.org_id = $1 and a.environment = ?)', environment)
  const [row] = await tx.query<{ total: number }>(
    `select coalesce(sum(${countSql[status ?? 'all']}), 0)::float8 as total from task_counts c where ${where.text}`,
    where.values,
  )
  return row?.total ?? 0
}

/** Most periods end lately: few tasks began after them, and those are among the latest. */
async function countUntil(scope: Scope, tx: Transaction, { to = '', ...filter }: TaskFilter, overdue: string) {
  const { end } = await rangeOf(scope, tx, { to })
  const later = (await conditions(scope, tx, filter, overdue))
    .add('t.last_log_index >= ?', end)
    .add('t.first_log_index >= ?', end)
  return (await keptTotal(scope, tx, filter)) - (await countIn(tx, later))
}

async function countIn(tx: Transaction, where: Filters): Promise<number> {
  const [row] = await tx.query<{ total: number }>(
    `select count(*)::int as total from task_heads t where ${where.text}`,
    where.values,
  )
  return row?.total ?? 0
}

type Row = Omit<TaskSummary, 'status'> & { readonly has_end: boolean; readonly has_error: boolean }

function summary({ has_end, has_error, ...task }: Row): TaskSummary {
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
