// The tasks of traces whose spans arrive one after the other.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows } from '../../db/sql.js'

interface TraceTask {
  readonly trace_id: string
  readonly task_id: string
}

const columns = { org_id: 'text', api_key_id: 'text', trace_id: 'text', task_id: 'text', noted_at: 'timestamptz' }

/** The time in which the task of a trace is kept, ms: no trace has spans that are a week apart. */
const keptMs = 7 * 24 * 3_600_000
/** Expired rows that a request deletes; it adds fewer. */
const maxDeleted = 1_000

/** Stores the tasks of new traces; a trace that has one keeps it. */
export async function noteTraces(
  { org_id }: Scope,
  tx: Transaction,
  now: number,
  api_key_id: string,
  traces: readonly TraceTask[],
): Promise<void> {
  if (traces.length === 0) return
  const noted_at = isoTime(now)
  // In one order, so that requests with the same traces wait for each other.
  const rows = traces
    .toSorted((a, b) => (a.trace_id < b.trace_id ? -1 : 1))
    .map((trace) => ({ org_id, api_key_id, noted_at, ...trace }))
  const inserted = await tx.query(
    `${insertRows('trace_tasks', columns)} on conflict do nothing returning trace_id`,
    columnsOf(rows, ['org_id', 'api_key_id', 'trace_id', 'task_id', 'noted_at']),
  )
  if (inserted.length === 0) return
  await tx.query(
    `delete from trace_tasks where org_id = $1 and (api_key_id, trace_id) in (
       select api_key_id, trace_id from trace_tasks where org_id = $1 and noted_at < $2
       order by noted_at limit ${maxDeleted} for update skip locked)`,
    [org_id, isoTime(now - keptMs)],
  )
}

/** The known tasks of these traces, by trace. */
export async function tasksOfTraces(
  { org_id }: Scope,
  tx: Transaction,
  api_key_id: string,
  trace_ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<TraceTask>(
    'select trace_id, task_id from trace_tasks where org_id = $1 and api_key_id = $2 and trace_id = any($3::text[])',
    [org_id, api_key_id, trace_ids],
  )
  return new Map(rows.map(({ trace_id, task_id }) => [trace_id, task_id]))
}
