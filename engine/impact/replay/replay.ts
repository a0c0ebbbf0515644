// Recorded tasks, evaluated again as whole paths under one policy set or two (docs/design/engine.md §9).
import { isMap } from '@svc/proof'
import type { JsonMap, Step } from '@svc/schemas'
import { isBlocked } from '@svc/schemas'
import type { TraceLineReading } from '../../convert/trace-line.js'
import type { Decision } from '../../policy/evaluate.js'
import { Task } from '../../task/task.js'
import { createOutcomes, type Outcomes } from './outcomes.js'
import type { ReplayPolicies } from './policies.js'
import type { Flip, ReplayResult } from './result.js'
import { createSets, type ReplaySets } from './sets.js'
import { createSkipped, type Skipped } from './skipped.js'
import { changeOf, newReplayedTask, type ReplayedTask, ReplayedTasks, type TaskChange } from './tasks.js'

export interface ReplayOptions {
  readonly policies: ReplayPolicies
  /** The policies to compare with. */
  readonly against?: ReplayPolicies
  /** The agent of every task, or of each task by its id, in place of `meta.agent` of its start. */
  readonly agent?: JsonMap | ((task_id: string) => JsonMap)
  /** Running tasks in memory; default 10,000. Those that continue after their history was dropped are reported. */
  readonly max_running?: number
  /** First blocks and flips in the result; default 1,000. */
  readonly max_listed?: number
  /** The steps of each task follow each other: only the current one is kept in memory. */
  readonly one_by_one?: boolean
  /** Receives every evaluated step, in the order of the trace. */
  readonly onStep?: (evaluated: EvaluatedStep) => void
}

export interface TaskComparison {
  /** Null for a task without such a change, also when a step flips to or from a report alone. */
  readonly change: TaskChange | null
  /** The first step whose outcome differs, in the order of the task. */
  readonly first_flip: Flip | null
  /** Of a newly blocked task: the first step that blocks; null where the steps end, and for other tasks. */
  readonly blocked_step: number | null
}

export interface EvaluatedStep {
  readonly task_id: string
  /** For an end through /end_task, a task.end that stands for it. */
  readonly step: Step
  readonly is_end: boolean
  readonly after: Decision
  /** Under the policies to compare with; null without them. */
  readonly before: Decision | null
}

/** A line of a trace; evaluations and other lines of the local engine are not steps. */
export type ReplayLine = TraceLineReading

export interface Replay {
  /** Adds the next line of a trace. `source` names its file in the result, and starts no new task. Never throws. */
  readonly add: (line: ReplayLine, source?: string) => void
  /** The two sets on a task that has a step; null if it is not in memory. */
  readonly comparisonOf: (task_id: string) => TaskComparison | null
  /** The result so far. */
  readonly finish: () => ReplayResult
}

const bounds = {
  /** An id that continues after its end mostly does so soon. */
  maxEnded: 1_000,
  /** Beyond it an id that continues counts as a new task: about 100 bytes each. */
  maxPast: 1_000_000,
}
const oneByOne = { maxTasks: 1, maxEnded: 1, maxPast: 0 }

/**
 * Replays recorded tasks step by step. A step that would be blocked has happened anyway: the steps after it are
 * evaluated on the path that was recorded. A step that was recorded as blocked is evaluated, and joins no history.
 */
export function createReplay(options: ReplayOptions): Replay {
  const { policies, against = null, agent = null, max_running = 10_000, max_listed = 1000, onStep = null } = options
  const sets = createSets(policies, against)
  const tasks = new ReplayedTasks(
    options.one_by_one ? oneByOne : { maxTasks: max_running, ...bounds },
    (task_id, source) => {
      const given = typeof agent === 'function' ? agent(task_id) : agent
      return newReplayedTask(task_id, source, given, sets.viewOf(given ?? {}))
    },
  )
  const state: ReplayState = {
    sets,
    tasks,
    is_agent_given: agent !== null,
    onStep,
    outcomes: createOutcomes(sets, max_listed),
    skipped: createSkipped(),
    counts: { tasks: 0, steps: 0, ended: 0, recorded_blocks: 0, unreadable_lines: 0 },
  }
  return {
    add: (line, source = '') => {
      if (line.kind === 'step') addStep(state, line.step, source)
      else if (line.kind === 'end') endTask(state, line.step)
      else if (line.kind === 'evaluation') noteEvaluation(state, line.row.task_id)
      else if (line.kind === 'problem') state.counts.unreadable_lines += 1
    },
    comparisonOf: (task_id) => comparisonOf(tasks.find(task_id)),
    finish: () => resultOf(state),
  }
}

interface ReplayState {
  readonly sets: ReplaySets
  readonly tasks: ReplayedTasks
  readonly is_agent_given: boolean
  readonly onStep: ((evaluated: EvaluatedStep) => void) | null
  readonly outcomes: Outcomes
  readonly skipped: Skipped
  readonly counts: { tasks: number; steps: number; ended: number; recorded_blocks: number; unreadable_lines: number }
}

function addStep(state: ReplayState, step: Step, source: string): void {
  const { sets, tasks, counts } = state
  const replayed = tasks.open(step.task_id ?? '', source)
  if (replayed.length === 0) {
    counts.tasks += 1
    state.skipped.noteStep(replayed.task_id)
  } else if (replayed.task === null) loseHistory(state, replayed)
  replayed.one_source &&= replayed.source === source
  replayed.length += 1
  counts.steps += 1
  const task = replayed.task ?? Task.deferred(sets.whole)
  replayed.task = task
  takeAgent(state, replayed, step)
  take(state, replayed, task, step, numberOf(step, replayed), false)
  if (isBlocked(step)) counts.recorded_blocks += 1
}

/** The number by which `svc explain` finds the step. */
function numberOf({ step }: Step, { length }: ReplayedTask): number {
  return Number.isSafeInteger(step) ? (step as number) : length
}

/** The agent is in `meta.agent` of the first step that has one: the start of the task. */
function takeAgent({ sets, is_agent_given }: ReplayState, task: ReplayedTask, { meta }: Step): void {
  const given = is_agent_given || task.agent !== null ? undefined : meta?.agent
  if (given !== undefined) {
    task.agent = isMap(given) ? given : {}
    task.view = sets.viewOf(task.agent)
  }
  if (task.length === 1 || given !== undefined) task.view.tasks += 1
}

/** Evaluates the step under each set, and adds it to the history. `is_end`: an end through /end_task. */
function take(
  { tasks, outcomes, counts, onStep }: ReplayState,
  replayed: ReplayedTask,
  task: Task,
  step: Step,
  number: number | null,
  is_end: boolean,
): void {
  const agent = replayed.agent ?? noAgent
  const now = task.timeOf(step)
  // Both sets share the readings of the step, as they share the history: they are parts of one set.
  const readings: unknown[] = []
  const occasion = is_end ? ('end' as const) : undefined
  const { passed } = outcomes
  const { set, against } = replayed.view
  const after = task.evaluate(step, agent, { now, passed, readings, occasion, set })
  const before = against === null ? null : task.evaluate(step, agent, { now, passed, readings, occasion, set: against })
  onStep?.({ task_id: replayed.task_id, step, is_end, after, before })
  if (!isQuiet(after) || (before !== null && !isQuiet(before))) outcomes.note(replayed, step, number, after, before)
  task.add(step, now)
  if (!task.finished) return
  if (!replayed.ended) counts.ended += 1
  replayed.ended = true
  tasks.finish(replayed)
}

const noAgent: JsonMap = {}

/** No policy is violated or approved. */
function isQuiet({ policies, passed }: Decision): boolean {
  return policies === passed
}

/** The end of a task through /end_task: a task.end that evaluates its task rules, unless an earlier one did that. */
function endTask(state: ReplayState, step: Step): void {
  const replayed = state.tasks.find(step.task_id ?? '')
  if (replayed === null || replayed.length === 0 || replayed.task?.finished === true) return
  if (replayed.task === null) {
    loseHistory(state, replayed)
    return
  }
  const agent_id = replayed.agent?.agent_id
  const end = { ...(typeof agent_id === 'string' && { agent_id }), ...step }
  take(state, replayed, replayed.task, end, null, true)
}

/** Reports a task of which only evaluations are recorded: they are not steps. */
function noteEvaluation({ tasks, skipped }: ReplayState, task_id: string): void {
  if (tasks.find(task_id) === null) skipped.noteEvaluation(task_id)
}

function loseHistory({ skipped }: ReplayState, task: ReplayedTask): void {
  if (!task.history_lost) skipped.noteLost(task.task_id)
  task.history_lost = true
}

function comparisonOf(task: ReplayedTask | null): TaskComparison | null {
  if (task === null || task.task === null) return null
  const { before, after, first_flip, blocked_step } = task
  const change = changeOf(before, after)
  return { change, first_flip, blocked_step: change === 'newly_blocked' ? blocked_step : null }
}

function resultOf({ sets, outcomes, skipped, counts }: ReplayState): ReplayResult {
  const { tasks, steps, ended, recorded_blocks, unreadable_lines } = counts
  return {
    tasks,
    steps,
    unfinished_tasks: tasks - ended,
    ...outcomes.result(),
    recorded_blocks,
    unreadable_lines,
    ...skipped.result(),
    rejected: sets.whole.dropped,
  }
}
