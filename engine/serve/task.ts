// One task: its history, and what has been decided in it and not been done yet.

import type { JsonMap, Step } from '@svc/schemas'
import type { PolicySet } from '../policy/compile.js'
import { copyHistory, newHistory, record } from '../policy/history.js'
import type { History } from '../rules/rule.js'
import type { JudgedEvaluation } from './judged.js'

/** An allowed step that has not been recorded: it counts as history until it is, or until this time. */
export interface Reservation {
  readonly step: Step
  /** ms since 1970 */
  readonly at: number
}

export interface Task {
  readonly task_id: string
  /** The policies that the history is indexed for. */
  set: PolicySet
  history: History
  /** Highest step number so far. */
  last_step: number
  /** The agent as the last evaluation of this task knew it. */
  facts: JsonMap
  /** Decisions whose step has not been recorded yet, by evaluation id. */
  readonly pending: Map<string, JudgedEvaluation>
  readonly reserved: Map<string, Reservation>
  /** True once task.end has been judged. */
  ended: boolean
  /** True when steps before this process's knowledge may exist. */
  history_lost: boolean
  /** ms since 1970 */
  touched_at: number
}

/** Decisions kept per task for /record to find. */
const pendingKept = 32
/** How long a reservation holds, ms (docs/design/engine.md §5). */
export const reservedFor = 60_000

export function newTask(task_id: string, set: PolicySet, history_lost: boolean): Task {
  return {
    ...{ task_id, set, history: newHistory(set), last_step: 0, facts: {} },
    ...{ pending: new Map(), reserved: new Map(), ended: false, history_lost, touched_at: 0 },
  }
}

/** Keeps a decision until its step is recorded. */
export function awaitRecord(task: Task, evaluation: JudgedEvaluation): void {
  task.pending.set(evaluation.evaluation_id, evaluation)
  const [oldest] = task.pending.keys()
  if (task.pending.size > pendingKept && oldest !== undefined) task.pending.delete(oldest)
}

/** The decision a recorded step belongs to: by the id it names, else the latest on what it does. Taken once. */
export function takeDecision(task: Task, evaluation_id: unknown, action_digest: string): JudgedEvaluation | null {
  const named = typeof evaluation_id === 'string' ? task.pending.get(evaluation_id) : undefined
  // The latest: an agent that was blocked, passed a gate and asked again acts on the second answer.
  const same = [...task.pending.values()].filter((evaluation) => evaluation.action_digest === action_digest)
  const found = named ?? same.at(-1)
  if (found === undefined) return null
  task.pending.delete(found.evaluation_id)
  task.reserved.delete(found.evaluation_id)
  return found
}

/** What has happened, and what has been promised to those who act at the same time. */
export function historyWithReserved({ set, history, reserved }: Task, now: number): History {
  for (const [evaluation_id, { at }] of reserved) if (now - at >= reservedFor) reserved.delete(evaluation_id)
  if (reserved.size === 0) return history
  const expected = copyHistory(set, history)
  for (const { step, at } of reserved.values()) record(set, expected, step, at)
  return expected
}
