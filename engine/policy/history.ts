// What a task has done so far, kept as running indexes: recording a step costs the number of distinct trackers
// of the policy set, and asking costs nothing that grows with the task.
import type { EvidenceStep } from '@svc/schemas'
import { evidenceOf, type History, type Recorded, type Tracker } from '../rules/rule.js'
import { canonicalType, isBlocked, type Step } from '../steps.js'

/** The trackers of a policy set, in slot order. */
export interface HistoryPlan {
  readonly trackers: readonly Tracker<unknown>[]
}

/** A task that has done nothing yet, indexed for one policy set. */
export function newHistory(plan: HistoryPlan): History {
  return { length: 0, states: plan.trackers.map((tracker) => tracker.init()) }
}

/** Adds a step that happened at `at` (ms since 1970). A blocked one is left out: it satisfies and counts for nothing. */
export function record(plan: HistoryPlan, history: History, step: Step, at: number): void {
  if (isBlocked(step)) return
  const recorded = { step, type: canonicalType(step.step_type), position: history.length + 1, at }
  for (const [index, tracker] of plan.trackers.entries()) {
    history.states[index] = tracker.add(history.states[index], recorded)
  }
  history.length = recorded.position
}

/** A recorded step as evidence, numbered as it was logged, else by its place in the history. */
export function evidenceOfRecorded(recorded: Recorded): EvidenceStep {
  return { ...evidenceOf(recorded.step), step: recorded.step.step ?? recorded.position }
}
