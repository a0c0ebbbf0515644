// Recorded tasks as a replay reads them: the last ones, how large they are, and their steps.
import { withStatedLabels } from '@svc/engine'
import type { StoredEntry, StoredHead } from '@svc/proof'
import { isoTime, type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { filters, readByIndex, utc } from '../../db/sql.js'
import { stepColumns, stepOf } from '../../ledger/log.js'

export type RecordedTask = Pick<StoredHead, 'task_id' | 'agent_id' | 'seq' | 'first_received_at' | 'last_received_at'>

/** What is stored of a task. */
export interface TaskSize {
  readonly entries: number
  /** Entries whose payload is not erased. */
  readonly payloads: number
  /** Of all payloads. */
  readonly bytes: number
}

/** The tasks with the latest steps, latest first; `agent_id` is null for those of all agents. */
export async function lastTasks(
  scope: Scope,
  tx: Transaction,
  agent_id: string | null,
  limit: number,
): Promise<RecordedTask[]> {
  await readByIndex(tx)
  const where = filters([scope.org_id], 'org_id = $1').add('agent_id = ?', agent_id ?? undefined)
  return tx.query<RecordedTask>(
    `select task_id, agent_id, seq, ${utc('first_received_at')}, ${utc('last_received_at')} from task_heads
     where ${where.text} order by last_log_index desc limit ${limit}`,
    where.values,
  )
}

/** Within the times of the task: planning a join of all partitions takes longer than reading. */
const fromTask = `from log_entries e left join log_payloads p
    on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at
      and p.received_at between $4::timestamptz and $5::timestamptz`
const ofTask = `where e.org_id = $1 and e.task_id = $2 and e.seq <= $3
    and e.received_at between $4::timestamptz and $5::timestamptz`

const valuesOf = ({ org_id }: Scope, { task_id, seq, first_received_at, last_received_at }: RecordedTask) => [
  org_id,
  task_id,
  seq,
  first_received_at,
  last_received_at,
]

/** Read before the steps, because their payloads can be larger than memory. */
export async function sizeOfTask(scope: Scope, tx: Transaction, task: RecordedTask): Promise<TaskSize> {
  const [size] = await tx.query<TaskSize>(
    `select count(*)::int as entries, count(p.body)::int as payloads,
       coalesce(sum(octet_length(p.body)), 0)::float8 as bytes ${fromTask} ${ofTask}`,
    valuesOf(scope, task),
  )
  return size ?? { entries: 0, payloads: 0, bytes: 0 }
}

/** The steps in the order of arrival, as rules read them, at the times at which they count as having occurred. */
export async function readSteps(scope: Scope, tx: Transaction, task: RecordedTask): Promise<Step[]> {
  const rows = await tx.query<StepRow>(
    `select ${stepColumns.map((column) => `e.${column}`).join(', ')}, p.body, m.labels,
       (extract(epoch from e.occurred_at) * 1000)::float8 as occurred_ms ${fromTask}
     left join memory_reads m on m.org_id = e.org_id and m.log_index = e.log_index ${ofTask} order by e.seq`,
    valuesOf(scope, task),
  )
  return rows.map((row) => at(Math.round(row.occurred_ms), withStatedLabels(stepOf(row, row.body), row.labels)))
}

type StepRow = Pick<StoredEntry, (typeof stepColumns)[number]> & {
  readonly body: string | null
  readonly labels: JsonMap | null
  readonly occurred_ms: number
}

/** A time before that of an earlier step counts as that one, also where the task id is used again. */
function at(time: number, step: Step): Step {
  return parseTimestamp(step.timestamp ?? '') === time ? step : { ...step, timestamp: isoTime(time) }
}
