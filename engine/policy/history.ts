// The history of a task as running indexes: recording a step costs one update for each tracker of the policy set, and
// evaluating a step does not depend on the length of the task.

import { canonicalType, isBlocked, type Step } from '@svc/schemas'
import { lessTrusted, othersIn } from '../rules/labels.js'
import { RecordedTexts } from '../rules/recorded-text.js'
import type { History, Tracker } from '../rules/rule.js'
import { narrowToolsBy } from '../rules/task-tools.js'

/** The trackers of a policy set, in slot order. */
export interface HistoryPlan {
  readonly trackers: readonly Tracker<unknown>[]
}

/** The history of a new task, indexed for one policy set. */
export function newHistory(plan: HistoryPlan): History {
  return { length: 0, tools: null, others: null, states: plan.trackers.map((tracker) => tracker.init()) }
}

/** Adds a step that happened at `at` (ms since 1970). A blocked step is left out: it satisfies no rule and is not counted. */
export function record(plan: HistoryPlan, history: History, step: Step, at: number): void {
  if (isBlocked(step)) return
  const type = canonicalType(step.step_type)
  const recorded = { step, type, position: history.length + 1, at, texts: new RecordedTexts(step, type) }
  for (const [index, tracker] of plan.trackers.entries()) {
    history.states[index] = tracker.add(history.states[index], recorded)
  }
  narrowToolsBy(history, step)
  history.others = lessTrusted(history.others, othersIn(step))
  history.length = recorded.position
}

/** A copy that changes independently of the original. */
export function copyHistory(plan: HistoryPlan, { states, ...others }: History): History {
  return { ...others, states: states.map((state, index) => plan.trackers[index]?.copy?.(state) ?? state) }
}

/**
 * The history as another policy set indexes it: it keeps the states of trackers that both sets have. `complete` is false
 * when the new set has a tracker that the old set does not have, and which therefore starts empty.
 */
export function carryOver(from: HistoryPlan, history: History, to: HistoryPlan) {
  const states = new Map(from.trackers.map((tracker, index) => [tracker.key, history.states[index]]))
  const complete = history.length === 0 || to.trackers.every(({ key }) => states.has(key))
  const carried = to.trackers.map((tracker) => (states.has(tracker.key) ? states.get(tracker.key) : tracker.init()))
  return { history: { ...history, states: carried }, complete }
}
