// Runs of a task id: an id that is used again after its end is a new task with an empty history.
import { canonicalType, type Step } from '@svc/schemas'
import { occasionOf } from './plan.js'

/** The latest run of a task id: `none` before its first step and after /end_task; `ended` after a task.end step. */
export type RunState = 'none' | 'running' | 'ended'

/**
 * True when a step of that type begins a new run. An ended run still takes a task.error and a task.end: the engine writes
 * both for a blocked step, and a client that sends them as well does not begin a task.
 */
export function startsRun(state: RunState, step_type: string): boolean {
  if (state === 'none') return true
  const type = canonicalType(step_type)
  return state === 'ended' && type !== 'task.error' && type !== 'task.end'
}

/** The state after a step of that type. */
export function stateAfter(state: RunState, step_type: string): RunState {
  if (canonicalType(step_type) === 'task.end') return 'ended'
  return startsRun(state, step_type) ? 'running' : state
}

/** The occasion on which a step of that run is evaluated: task rules are evaluated once, at the first task.end. */
export function occasionIn(state: RunState, step: Step): 'step' | 'last_step' {
  return state === 'ended' ? 'step' : occasionOf(step)
}
