// One task: its history, and the decisions whose steps are not recorded yet.
import type { Behavior, JsonMap, Step } from '@svc/schemas'
import { copyHistory, newHistory, record } from '../policy/history.js'
import type { History } from '../rules/rule.js'
import type { LocalEvaluation } from './local-evaluation.js'
import type { AppliedPolicies } from './task-policies.js'

/** An allowed step that counts as history until it is recorded or the reservation expires. */
export interface Reservation {
  readonly step: Step
  /** When it was reserved, ms since 1970. */
  readonly at: number
}

export interface Task {
  readonly task_id: string
  /** The policies that apply to it, and that its history is indexed for. */
  policies: AppliedPolicies
  history: History
  /** Those that its history holds, as `wordsIn` counts them. */
  words: number
  /** Highest step number so far. */
  last_step: number
  /** The agent of the latest step that names one. */
  agent_id: string | null
  /** The agent as the last evaluation of this task saw it. */
  facts: JsonMap
  /** The tools of the task as the trace has them. */
  written_tools: History['tools']
  /** Decisions whose step has not been recorded yet, by evaluation id. */
  readonly pending: Map<string, LocalEvaluation>
  readonly reserved: Map<string, Reservation>
  /** True when the task may have steps that this process does not know. */
  history_lost: boolean
  /** ms on a clock that never jumps */
  touched_at: number
}

/** Decisions kept per task for /record. */
const maxPending = 32
/** docs/design/engine.md §5. */
export const reservationMs = 60_000

export function newTask(task_id: string, policies: AppliedPolicies, history_lost: boolean, last_step: number): Task {
  return {
    task_id,
    policies,
    history: newHistory(policies.set, !history_lost),
    words: 0,
    last_step,
    agent_id: null,
    facts: {},
    written_tools: null,
    pending: new Map(),
    reserved: new Map(),
    history_lost,
    touched_at: 0,
  }
}

/**
 * Marks a task whose first step states by its number that others are missing. `waiting`: steps of other decisions, which may
 * be recorded later than they happened.
 */
export function noteFirst(task: Task, stated = 1, waiting = 0): void {
  if (task.last_step > 0 || stated - 1 <= waiting) return
  task.history = { ...newHistory(task.policies.set, false), tools: task.history.tools }
  task.history_lost = true
  task.last_step = stated - 1
}

/** The task.end that a task with recorded steps lacks; null for one that lacks none. */
export function missingEnd({ history, last_step }: Task): number | null {
  return history.finished || last_step === 0 ? null : last_step + 1
}

/** An end voids what allows: a step that was allowed before it is evaluated again when it is recorded. */
export function voidDecisions({ pending }: Task): void {
  for (const [evaluation_id, { blocked }] of pending) if (!blocked) pending.delete(evaluation_id)
}

/** Keeps a decision until its step is recorded. */
export function awaitRecord(task: Task, evaluation: LocalEvaluation): void {
  task.pending.set(evaluation.evaluation_id, evaluation)
  const [oldest] = task.pending.keys()
  if (task.pending.size > maxPending && oldest !== undefined) task.pending.delete(oldest)
}

/** The decision on a recorded step: by the id that it names, else the latest with the same action. Taken once. */
export function takeDecision(task: Task, evaluation_id: unknown, action_digest: string): LocalEvaluation | null {
  const named = typeof evaluation_id === 'string' ? task.pending.get(evaluation_id) : undefined
  // An agent that was blocked, passed a gate and evaluated again acts on the latest decision.
  const same = [...task.pending.values()].filter((evaluation) => evaluation.action_digest === action_digest)
  const found = named ?? same.at(-1)
  if (found === undefined) return null
  task.pending.delete(found.evaluation_id)
  task.reserved.delete(found.evaluation_id)
  return found
}

/** The history with the reserved steps of concurrent requests. */
export function historyWithReserved({ policies: { set }, history, reserved }: Task, now: number): History {
  for (const [evaluation_id, { at }] of reserved) if (now - at >= reservationMs) reserved.delete(evaluation_id)
  if (reserved.size === 0) return history
  const expected = copyHistory(set, history)
  for (const { step, at } of reserved.values()) record(set, expected, step, at)
  return expected
}

/** The task.end that a task with recorded steps lacks, for receivers that know steps only. */
export function endOf(task: Task | null): { readonly step?: number; readonly agent_id?: string } {
  const step = task === null ? null : missingEnd(task)
  if (task === null || step === null) return {}
  return { step, ...(task.agent_id !== null && { agent_id: task.agent_id }) }
}

/** The agent of the task's last evaluation, when it named one. */
export function agentOf({ facts }: Task): Pick<Behavior, 'agent_id'> {
  const { agent_id } = facts
  return typeof agent_id === 'string' ? { agent_id } : {}
}
