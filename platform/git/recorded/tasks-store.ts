// Recorded tasks as a replay reads them: which there are, how large they are, and their steps.
import type { StoredHead } from '@svc/proof'
import type { Transaction } from '../../db/db.js'
import { raw, read, rowsOf, total, within } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex, utc } from '../../db/sql.js'
import { rangeOf } from '../../ledger/log-range.js'
import { lineColumns } from './stored-steps.js'

export type RecordedTask = Pick<StoredHead, 'task_id' | 'agent_id' | 'seq' | 'first_received_at' | 'last_received_at'>

const taskColumns = `task_id, agent_id, seq, ${utc('first_received_at')}, ${utc('last_received_at')}`

export interface TaskFilter {
  /** Null for the tasks of all agents. */
  readonly agent_id: string | null
  /** RFC 3339: tasks whose last step was received at this time or later. */
  readonly from?: string | undefined
  /** RFC 3339: tasks whose first step was received before this time. */
  readonly to?: string | undefined
}

interface LastTasks {
  /** Those with the latest steps, latest first. */
  readonly tasks: readonly RecordedTask[]
  /** Tasks of the period beyond the limit; 0 without a period. */
  readonly more: number
}

export async function lastTasks(
  scope: Scope,
  tx: Transaction,
  { agent_id, from, to }: TaskFilter,
  limit: number,
): Promise<LastTasks> {
  await readByIndex(tx)
  const indexOf = async (time: string | undefined) => (time === undefined ? undefined : firstIndexFrom(scope, tx, time))
  const found = rowsOf(scope, 'task_heads')
    .where(within('last_log_index', { first: await indexOf(from) }))
    .where(within('first_log_index', { end: await indexOf(to) }))
  if (agent_id !== null) found.where({ agent_id })
  const last = found.clone().orderBy('last_log_index', 'desc').limit(limit)
  const tasks = await read<RecordedTask>(tx, last.select(raw(taskColumns)))
  if ((from ?? to) === undefined || tasks.length < limit) return { tasks, more: 0 }
  return { tasks, more: (await total(tx, found)) - tasks.length }
}

/** A period from a time on: the log index of its first entry. */
export async function firstIndexFrom(scope: Scope, tx: Transaction, from: string): Promise<number> {
  return (await rangeOf(scope, tx, { from })).first ?? 0
}

/** The number of tasks of the agent with a step at or after the log index. */
export async function countTasks(scope: Scope, tx: Transaction, agent_id: string, first: number): Promise<number> {
  await readByIndex(tx)
  return total(tx, rowsOf(scope, 'task_heads').where({ agent_id }).where(within('last_log_index', { first })))
}

export interface DrawnTask extends RecordedTask {
  readonly first_log_index: number
  /** The number of the task in the draw, as 16 hex digits: uniform, and the same for the same seed. */
  readonly draw: string
}

/** The first tasks of the agent in a draw by lot, among those with a step at or after the log index. */
export async function drawTasks(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  { first, seed, limit }: { readonly first: number; readonly seed: string; readonly limit: number },
): Promise<DrawnTask[]> {
  await readByIndex(tx)
  return tx.query<DrawnTask>(
    `select ${taskColumns}, first_log_index, draw from (
       select *, left(encode(sha256(convert_to($4 || task_id, 'UTF8')), 'hex'), 16) as draw from task_heads
       where org_id = $1 and agent_id = $2 and last_log_index >= $3
     ) drawn order by draw collate "C", task_id collate "C" limit ${limit}`,
    [scope.org_id, agent_id, first, seed],
  )
}

/** The stored data of a task. */
export interface StoredTask {
  readonly task_id: string
  readonly entries: number
  /** Entries whose payload is not erased. */
  readonly payloads: number
  /** Of all payloads. */
  readonly bytes: number
  /** Payloads that are too large to be in `lines`. */
  readonly omitted: number
  /** The steps, as `stepsIn` reads them; null when none is small enough. */
  readonly lines: string | null
}

/**
 * Reads tasks with their payloads of at most `max_bytes` each; with 0 it reads how large they are: their payloads can be larger
 * than memory. A subquery for each task, between its times: planning a join of all partitions takes longer than reading.
 */
export async function readTasks(
  { org_id }: Scope,
  tx: Transaction,
  tasks: readonly RecordedTask[],
  max_bytes: number,
): Promise<StoredTask[]> {
  // The index on times covers whole ranges of pages: to combine it with that on tasks took most of the time.
  await tx.query('set local enable_seqscan = off; set local enable_bitmapscan = off')
  return tx.query<StoredTask>(
    `select t.task_id, s.* from unnest($2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
       as t(task_id, seq, first_received_at, last_received_at)
     cross join lateral (
       select count(*)::int as entries, count(p.body)::int as payloads,
         coalesce(sum(octet_length(p.body)), 0)::float8 as bytes,
         (count(*) filter (where octet_length(p.body) > $6))::int as omitted,
         string_agg(case when octet_length(p.body) <= $6 then json_build_array(${lineColumns})::text end, E'\\n' order by e.seq)
           as lines
       from log_entries e
       left join log_payloads p on p.org_id = $1 and p.log_index = e.log_index and p.received_at = e.received_at
         and p.received_at between t.first_received_at and t.last_received_at
       where e.org_id = $1 and e.task_id = t.task_id and e.seq <= t.seq
         and e.received_at between t.first_received_at and t.last_received_at
     ) s`,
    [
      org_id,
      tasks.map(({ task_id }) => task_id),
      tasks.map(({ seq }) => seq),
      tasks.map(({ first_received_at }) => first_received_at),
      tasks.map(({ last_received_at }) => last_received_at),
      max_bytes,
    ],
  )
}
