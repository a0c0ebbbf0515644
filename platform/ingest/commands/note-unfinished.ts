// Notes the tasks of one organization without an end within the timeout of their last step (docs/adr/0049-operations.md).
import { isoTime } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import { withZone } from '../../ledger/stored-step.js'
import { noteUnfinished, type UnfinishedTask } from '../store/unfinished-tasks.js'

/** Steps that arrive later than this after they occurred, and later than the timeout, are those of a recorded run, ms. */
const minLatenessMs = 86_400_000

/**
 * Notes up to `limit` tasks in one transaction with their events; returns how many were noted. The lock of the log orders it
 * against late steps and other processes: neither notes a task twice, and a crash leaves all of the batch to the next run.
 */
export function noteUnfinishedTasks(
  { db, clock }: Resources,
  scope: Scope,
  timeout_seconds: number,
  limit: number,
): Promise<number> {
  const timeoutMs = timeout_seconds * 1000
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const now = clock()
    const noted = await noteUnfinished(scope, tx, isoTime(now), isoTime(now - timeoutMs), limit)
    // The tasks that were just noted, in the transaction that notes them: what follows from them is written here.
    const alarming = noted.filter((task) => !isRecordedRun(task, timeoutMs))
    await recordEvents(scope, tx, now, alarming.map(unfinishedEvent))
    return noted.length
  })
}

/** Whether the last step was old when it arrived: an imported run has ended long ago, and no alarm helps it. */
function isRecordedRun({ last_occurred_at, last_received_at }: UnfinishedTask, timeoutMs: number): boolean {
  if (last_occurred_at === null) return true
  return Date.parse(last_received_at) - Date.parse(last_occurred_at) > Math.max(timeoutMs, minLatenessMs)
}

function unfinishedEvent({ task_id, agent_id, last_ts, steps }: UnfinishedTask) {
  const data = { agent_id, last_ts: withZone(last_ts), steps }
  return { kind: 'task.unfinished', subject_kind: 'task', subject_id: task_id, data }
}
