// Recorded tasks that can be replayed whole, and why others cannot.
import type { DryRunReport } from '@svc/schemas'
import type { Scope } from '../../db/scope.js'
import type { Reading } from './reading.js'
import { type RecordedTask, readTasks, type StoredTask } from './tasks-store.js'

export type LeftOutReason = Exclude<DryRunReport['left_out'][number]['reason'], 'too_many'>

/** Of one task: one that is larger is not replayed. */
const maxOfTask = { steps: 10_000, bytes: 8 * 1024 * 1024 }

/** True if the task has too many steps to be replayed. */
export function isTooLong({ seq }: Pick<RecordedTask, 'seq'>): boolean {
  return seq > maxOfTask.steps
}

/** Why the task cannot be replayed whole; null when it can. That it has no content is known once its steps are read. */
function reasonToLeaveOut(
  { seq }: RecordedTask,
  { entries, payloads, bytes }: StoredTask,
): Exclude<LeftOutReason, 'metadata_only'> | null {
  if (entries < seq) return 'pruned'
  if (payloads < entries) return 'payload_erased'
  return bytes > maxOfTask.bytes ? 'too_long' : null
}

/** The entries of one query: few enough that the embedded database, which runs in this thread, answers within about 20 ms. */
const batchEntries = 400
/** A payload that is larger is read alone, once the size of its task is known. */
const maxBatched = 16 * 1024

interface WholeTask {
  readonly task: RecordedTask
  /** Of its payloads. */
  readonly bytes: number
  /** Its steps, as `stepsIn` reads them. */
  readonly lines: string
}

interface WholeTaskParts {
  readonly read: Reading
  readonly scope: Scope
  /** Called for each task that cannot be replayed whole. */
  readonly leaveOut: (reason: Exclude<LeftOutReason, 'metadata_only'>) => void
}

/**
 * Reads the tasks in batches, each in a snapshot: one for all would keep a connection, and the embedded database, from other
 * requests. A task with a large payload is a batch of its own, so that few megabytes are in memory.
 */
export async function* wholeTasks(
  parts: WholeTaskParts,
  tasks: Iterable<RecordedTask>,
): AsyncGenerator<readonly WholeTask[]> {
  for (const batch of batches(tasks)) yield* readBatch(parts, batch)
}

/** Consecutive tasks with few entries together, and each long one alone. */
function* batches(tasks: Iterable<RecordedTask>): Generator<RecordedTask[]> {
  let batch: RecordedTask[] = []
  let entries = 0
  for (const task of tasks) {
    if (batch.length > 0 && entries + task.seq > batchEntries) {
      yield batch
      batch = []
      entries = 0
    }
    batch.push(task)
    entries += task.seq
  }
  if (batch.length > 0) yield batch
}

/** The tasks of a batch that can be replayed whole. */
async function* readBatch(parts: WholeTaskParts, batch: readonly RecordedTask[]): AsyncGenerator<readonly WholeTask[]> {
  const { read, scope, leaveOut } = parts
  const tasks = batch.filter((task) => !isTooLong(task))
  for (let count = tasks.length; count < batch.length; count += 1) leaveOut('too_long')
  const isLong = tasks.some(({ seq }) => seq > batchEntries)
  const found = await read((tx) => readTasks(scope, tx, tasks, isLong ? 0 : maxBatched))
  const byId = new Map(found.map((stored) => [stored.task_id, stored]))
  let whole: WholeTask[] = []
  for (const task of tasks) {
    const stored = byId.get(task.task_id)
    const reason = stored === undefined ? 'pruned' : reasonToLeaveOut(task, stored)
    if (reason !== null) leaveOut(reason)
    if (reason !== null || stored === undefined) continue
    const isLarge = stored.omitted > 0
    if (isLarge) {
      yield whole
      whole = []
    }
    const lines = isLarge ? await readLarge(parts, task) : stored.lines
    if (lines === null) leaveOut('payload_erased')
    else if (isLarge) yield [{ task, bytes: stored.bytes, lines }]
    else whole.push({ task, bytes: stored.bytes, lines })
  }
  yield whole
}

/** The steps of a task whose size is known; null when its payloads were erased meanwhile. */
async function readLarge({ read, scope }: WholeTaskParts, task: RecordedTask): Promise<string | null> {
  const [stored] = await read((tx) => readTasks(scope, tx, [task], maxOfTask.bytes))
  const isWhole = stored !== undefined && reasonToLeaveOut(task, stored) === null
  return isWhole ? stored.lines : null
}
