// The history of a task as running indexes: recording a step costs one update for each tracker of the policy set, and
// evaluating a step does not depend on the length of the task. One id has one history (docs/design/engine.md §5): an end voids
// the gates and approvals before it, and keeps everything else.

import { canonicalType, isBlocked, type Step } from '@svc/schemas'
import { type Deferred, evidenceOfRecorded, type History, type Recorded, type Tracker } from '../rules/form/rule.js'
import { narrowToolsBy } from '../rules/selection/task-tools.js'
import { lessTrusted, othersIn } from '../rules/taint/labels.js'
import { RecordedTexts } from '../rules/taint/recorded-text.js'
import { isEnd, occasionOf } from './plan.js'

/** The trackers of a policy set, in slot order. */
export interface HistoryPlan {
  readonly trackers: readonly Tracker<unknown>[]
}

const nothing = { length: 0, end: null, finished: false, tools: null, others: null }

/** The history of a new task, indexed for one policy set; `is_whole` is false for a task whose earlier steps are missing. */
export function newHistory(plan: HistoryPlan, is_whole = true): History {
  return {
    ...nothing,
    states: plan.trackers.map((tracker) => tracker.init()),
    lost: is_whole ? null : plan.trackers.map(() => true),
    deferred: null,
  }
}

/**
 * The same for a task that is replayed: costly trackers add steps when a rule first reads them, which most tasks never need.
 * It cannot be copied or carried over.
 */
export function newDeferredHistory(plan: HistoryPlan): History {
  const states = plan.trackers.map((tracker) => (tracker.costly === undefined ? tracker.init() : null))
  const deferred = { steps: [], added: plan.trackers.map(() => 0) }
  return { ...nothing, states, lost: null, deferred }
}

/** Steps that are kept for the costly trackers: less memory than their indexes take. */
const maxDeferred = 256

/** Adds a step that happened at `at` (ms since 1970). A blocked step is left out: it satisfies no rule and is not counted. */
export function record(plan: HistoryPlan, history: History, step: Step, at: number): void {
  if (isBlocked(step)) return
  const type = canonicalType(step.step_type)
  const recorded = { step, type, position: history.length + 1, at, texts: new RecordedTexts(step, type) }
  const { deferred, states } = history
  for (let index = 0; index < plan.trackers.length; index++) {
    const tracker = plan.trackers[index] as Tracker<unknown>
    if (deferred === null || tracker.costly === undefined) states[index] = tracker.add(states[index], recorded)
  }
  if (deferred !== null && deferred.steps.push(recorded) === maxDeferred) addAllDeferred(plan, history, deferred)
  narrowToolsBy(history, step)
  history.others = lessTrusted(history.others, othersIn(step))
  history.length = recorded.position
  if (isEnd(step)) noteEnd(plan, history, recorded)
  else history.finished = false
}

function noteEnd({ trackers }: HistoryPlan, history: History, recorded: Recorded): void {
  for (const [index, { end }] of trackers.entries())
    if (end !== undefined) history.states[index] = end(history.states[index])
  history.end = evidenceOfRecorded(recorded)
  history.finished ||= recorded.type === 'task.end'
}

/**
 * The occasion on which a step after this history is evaluated: task rules are evaluated at a task.end, and not again at
 * the ends that a client or the engine adds to it.
 */
export function occasionIn({ finished }: Pick<History, 'finished'>, step: Step): 'step' | 'last_step' {
  return finished ? 'step' : occasionOf(step)
}

/** Adds to a costly tracker the steps that it has not added. */
export function addDeferred({ trackers }: HistoryPlan, { states }: History, slot: number, deferred: Deferred): void {
  const tracker = trackers[slot] as Tracker<unknown>
  const { steps, added } = deferred
  states[slot] ??= tracker.init()
  for (let next = added[slot] ?? 0; next < steps.length; next++)
    states[slot] = tracker.add(states[slot], steps[next] as Recorded)
  added[slot] = steps.length
}

function addAllDeferred(plan: HistoryPlan, history: History, deferred: Deferred): void {
  for (const [slot, tracker] of plan.trackers.entries())
    if (tracker.costly !== undefined) addDeferred(plan, history, slot, deferred)
  deferred.steps.length = 0
  deferred.added.fill(0)
}

/** Words that the indexes of a history hold, in all of them together: they are nearly all of its memory. */
export function wordsIn({ trackers }: HistoryPlan, { states }: History): number {
  return trackers.reduce((sum, { costly }, index) => sum + (costly?.(states[index]) ?? 0), 0)
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
  const slots = new Map(from.trackers.map(({ key }, slot) => [key, slot]))
  const complete = history.length === 0 || to.trackers.every(({ key }) => slots.has(key))
  const states = to.trackers.map((tracker) => {
    const slot = slots.get(tracker.key)
    return slot === undefined ? tracker.init() : history.states[slot]
  })
  const lost = to.trackers.map(({ key }) => {
    const slot = slots.get(key)
    return slot === undefined ? history.length > 0 || history.lost !== null : history.lost?.[slot] === true
  })
  return { history: { ...history, states, lost: lost.includes(true) ? lost : null }, complete }
}
