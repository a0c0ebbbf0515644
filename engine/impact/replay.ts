// Recorded tasks, evaluated again as whole paths under one policy set or two (docs/design/engine.md §9).
import { isMap } from '@svc/proof'
import type { JsonMap, Step } from '@svc/schemas'
import { isBlocked } from '@svc/schemas'
import type { TraceLineReading } from '../convert/trace-line.js'
import { timeAfter } from '../manifest/past.js'
import { type Decision, evaluateAndCount } from '../policy/evaluate.js'
import { newDeferredHistory, record } from '../policy/history.js'
import type { Occasion } from '../policy/plan.js'
import { occasionIn, stateAfter } from '../policy/runs.js'
import type { RuleContext } from '../rules/rule.js'
import { createOutcomes, type Outcomes } from './replay-outcomes.js'
import type { ReplayPolicies } from './replay-policies.js'
import type { Flip, ReplayResult } from './replay-result.js'
import { createRuns, newRun, type Run, type Runs } from './replay-runs.js'
import { createSets, type ReplaySets } from './replay-sets.js'
import { createSkipped, type Skipped } from './replay-skipped.js'

export interface ReplayOptions {
  readonly policies: ReplayPolicies
  /** The policies to compare with. */
  readonly against?: ReplayPolicies
  /** The agent of every task, or of each task by its id, in place of `meta.agent` of its start. */
  readonly agent?: JsonMap | ((task_id: string) => JsonMap)
  /** Running tasks in memory; default 10,000. Those that go on after their history was dropped are reported. */
  readonly max_running?: number
  /** First blocks and flips in the result; default 1,000. */
  readonly max_listed?: number
  /** The steps of each task follow each other, and no task goes on later: only the current one is kept in memory. */
  readonly one_by_one?: boolean
  /** Receives every evaluated step, in the order of the trace. */
  readonly onStep?: (evaluated: EvaluatedStep) => void
  /** Receives every flip, in the order of the trace; the place of its source has no number of runs. */
  readonly onFlip?: (flip: Flip) => void
}

export interface EvaluatedStep {
  readonly task_id: string
  readonly run: number
  /** With the occasion `end`, a task.end that stands for the end through /end_task. */
  readonly step: Step
  readonly occasion: Occasion
  readonly after: Decision
  /** Under the policies to compare with; null without them. */
  readonly before: Decision | null
}

/** A line of a trace; evaluations and other lines of the local engine are not steps. */
export type ReplayLine = TraceLineReading

export interface Replay {
  /** Adds the next line of a trace. `source` names its file in the result, and starts no new task. Never throws. */
  readonly add: (line: ReplayLine, source?: string) => void
  /** The result so far. */
  readonly finish: () => ReplayResult
}

const bounds = {
  /** A task that ends is followed by few late steps, and soon; to keep 1,000 histories took 10.3 µs a step instead of 7.8. */
  max_ended: 100,
  /** Beyond it an id that goes on counts as a new task: about 100 bytes each. */
  max_past: 1_000_000,
}
const oneByOne = { max_running: 1, max_ended: 1, max_past: 0 }

/**
 * Replays recorded tasks step by step. A step that would be blocked has happened all the same: the steps after it are
 * evaluated on the path that was recorded. A step that was recorded as blocked is evaluated, and joins no history.
 */
export function createReplay(options: ReplayOptions): Replay {
  const { policies, against = null, agent = null, max_running = 10_000, max_listed = 1000, onStep = null } = options
  const sets = createSets(policies, against)
  const runs = createRuns(options.one_by_one ? oneByOne : { max_running, ...bounds }, (task_id, source, known) => {
    const given = typeof agent === 'function' ? agent(task_id) : agent
    return newRun(task_id, source, known, given, sets.viewOf(given ?? {}))
  })
  const state: ReplayState = {
    sets,
    runs,
    is_agent_given: agent !== null,
    onStep,
    outcomes: createOutcomes(sets, runs, max_listed, options.onFlip),
    skipped: createSkipped(),
    counts: { tasks: 0, steps: 0, ended: 0, recorded_blocks: 0, unreadable_lines: 0 },
  }
  return {
    add: (line, source = '') => {
      if (line.kind === 'step') addStep(state, line.step, source)
      else if (line.kind === 'end') endTask(state, line.task_id ?? '')
      else if (line.kind === 'evaluation') noteEvaluation(state, line.row.task_id)
      else if (line.kind === 'problem') state.counts.unreadable_lines += 1
    },
    finish: () => resultOf(state),
  }
}

interface ReplayState {
  readonly sets: ReplaySets
  readonly runs: Runs
  readonly is_agent_given: boolean
  readonly onStep: ((evaluated: EvaluatedStep) => void) | null
  readonly outcomes: Outcomes
  readonly skipped: Skipped
  readonly counts: { tasks: number; steps: number; ended: number; recorded_blocks: number; unreadable_lines: number }
}

function addStep(state: ReplayState, step: Step, source: string): void {
  const { sets, runs, counts } = state
  const run = runs.open(step.task_id ?? '', step.step_type, source)
  if (run.length === 0) {
    counts.tasks += 1
    state.skipped.noteStep(run.task_id)
  } else if (run.history === null) loseHistory(state, run)
  if (run.last_source !== source) {
    run.last_source = source
    run.run_in_last = 1
  }
  run.length += 1
  counts.steps += 1
  run.now = timeAfter(run.now, step)
  run.history ??= newDeferredHistory(sets.whole)
  takeAgent(state, run, step)
  evaluateStep(state, run, step, occasionIn(run.state, step), numberOf(step, run))
  record(sets.whole, run.history, step, run.now)
  if (isBlocked(step)) counts.recorded_blocks += 1
  const before = run.state
  run.state = stateAfter(before, step.step_type)
  if (run.state === 'running') return
  if (before !== 'ended') counts.ended += 1
  runs.settle(run)
}

/** The number by which `svc explain` finds the step. */
function numberOf({ step }: Step, { length }: Run): number {
  return Number.isSafeInteger(step) ? (step as number) : length
}

/** The agent is in `meta.agent` of the first step that has one: the start of the task. */
function takeAgent({ sets, is_agent_given }: ReplayState, run: Run, { meta }: Step): void {
  const given = is_agent_given || run.agent !== null ? undefined : meta?.agent
  if (given !== undefined) {
    run.agent = isMap(given) ? given : {}
    run.view = sets.viewOf(run.agent)
  }
  if (run.length === 1 || given !== undefined) run.view.tasks += 1
}

function evaluateStep(
  { sets, outcomes, onStep }: ReplayState,
  run: Run,
  step: Step,
  occasion: Occasion,
  number: number | null,
) {
  const agent = run.agent ?? noAgent
  const history = run.history ?? newDeferredHistory(sets.whole)
  // Both sets share the readings of the step, as they share the history: they are parts of one set.
  const context: RuleContext = { step, agent, context: agent, history, now: run.now ?? 0, readings: [] }
  const { set, against } = run.view
  const after = evaluateAndCount(set, occasion, context, outcomes.passed)
  const before = against === null ? null : evaluateAndCount(against, occasion, context, outcomes.passed)
  onStep?.({ task_id: run.task_id, run: run.run, step, occasion, after, before })
  if (isQuiet(after) && (before === null || isQuiet(before))) return
  outcomes.note(run, step, number, after, before)
}

const noAgent: JsonMap = {}

/** No policy is violated or approved. */
function isQuiet({ policies, passed }: Decision): boolean {
  return policies === passed
}

/** The end of a task through /end_task: its task rules are evaluated unless a task.end did that. */
function endTask(state: ReplayState, task_id: string): void {
  const run = state.runs.find(task_id)
  if (run === null) return
  if (run.state === 'running') {
    state.counts.ended += 1
    const agent_id = run.agent?.agent_id
    const step = { ...(typeof agent_id === 'string' && { agent_id }), step_type: 'task.end', task_id }
    if (run.history === null) loseHistory(state, run)
    else evaluateStep(state, run, step, 'end', null)
  }
  run.state = 'none'
  state.runs.settle(run)
}

/** Reports a task of which only evaluations are recorded: they are not steps. */
function noteEvaluation({ runs, skipped }: ReplayState, task_id: string): void {
  if (runs.find(task_id) === null) skipped.noteEvaluation(task_id)
}

function loseHistory({ skipped }: ReplayState, run: Run): void {
  if (!run.history_lost) skipped.noteLost(run.task_id)
  run.history_lost = true
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
