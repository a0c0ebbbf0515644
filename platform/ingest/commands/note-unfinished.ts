// Notes the tasks of one organization without an end within the timeout of their last step (docs/design/platform.md §4).
import { isoTime } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Occurrence } from '../../incidents/actions/matching.js'
import { queueDeliveries, type Triggering } from '../../incidents/actions/triggers.js'
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
  { db, clock, send }: Resources & Triggering,
  scope: Scope,
  timeout_seconds: number,
  limit: number,
): Promise<number> {
  const timeoutMs = timeout_seconds * 1000
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const now = clock()
    const noted = await noteUnfinished(scope, tx, isoTime(now), isoTime(now - timeoutMs), limit)
    const alarming = noted.filter((task) => !isRecordedRun(task, timeoutMs))
    await recordEvents(scope, tx, now, alarming.map(unfinishedEvent))
    await queueDeliveries({ send }, scope, tx, now, alarming.map(unfinishedOccurrence))
    return noted.length
  })
}

/** True if the last step was old when it arrived: an imported run has ended long ago, and no alarm helps it. */
function isRecordedRun({ last_occurred_at, last_received_at }: UnfinishedTask, timeoutMs: number): boolean {
  if (last_occurred_at === null) return true
  return Date.parse(last_received_at) - Date.parse(last_occurred_at) > Math.max(timeoutMs, minLatenessMs)
}

const shown = ({ agent_id, last_ts, steps }: UnfinishedTask) => ({ agent_id, last_ts: withZone(last_ts), steps })

function unfinishedEvent(task: UnfinishedTask) {
  return { kind: 'task.unfinished', subject_kind: 'task', subject_id: task.task_id, data: shown(task) }
}

/** A task that goes on and stops again is another occurrence. */
function unfinishedOccurrence(task: UnfinishedTask): Occurrence {
  const { task_id, agent_id, last_log_index } = task
  const data = { task: { task_id, ...shown(task) } }
  return {
    on: 'task.unfinished',
    subject_kind: 'task',
    subject_id: task_id,
    agent_id,
    data,
    once: `${task_id} ${last_log_index}`,
  }
}
