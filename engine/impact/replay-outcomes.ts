// What a replay found: tasks by outcome, first blocks, and steps whose outcome differs between two policy sets.
import type { Step } from '@svc/schemas'
import type { Decision } from '../policy/evaluate.js'
import { causesOf, differencesOf } from './replay-causes.js'
import { createList } from './replay-list.js'
import type { FirstBlock, Flip, Listed, Outcome, ReplayResult, StepPlace } from './replay-result.js'
import type { Marks, Run, Runs } from './replay-runs.js'
import type { ReplaySets } from './replay-sets.js'
import { countDecision, newTally, rowsOf } from './replay-tally.js'

export interface Outcomes {
  /** Where evaluations count the policies that passed, by id. */
  readonly passed: Float64Array
  /** Notes a step with a violation or an approval; `before` is null without a set to compare with. */
  readonly note: (run: Run, step: Step, number: number | null, after: Decision, before: Decision | null) => void
  readonly result: () => Pick<
    ReplayResult,
    | 'blocked_tasks'
    | 'asked_tasks'
    | 'warned_tasks'
    | 'flipped_tasks'
    | 'newly_blocked_tasks'
    | 'no_longer_blocked_tasks'
    | 'policies'
    | 'old_policies'
    | 'first_blocks'
    | 'flips'
  >
}

export function createOutcomes(
  sets: ReplaySets,
  runs: Runs,
  max_listed: number,
  onFlip?: (flip: Flip) => void,
): Outcomes {
  const { listed, is_compared } = sets
  const tally = newTally(sets)
  const first_blocks = createList<FirstBlock>(max_listed)
  const flips = createList<Flip>(max_listed)
  const tasks = { blocked: 0, asked: 0, warned: 0, flipped: 0, newly_blocked: 0, no_longer_blocked: 0 }
  const noteTask = (run: Run, after: Outcome, before: Outcome | null) => {
    const was = differenceOf(run)
    mark(run.after, after, tasks)
    if (before === null) return
    mark(run.before, before, null)
    const is = differenceOf(run)
    if (was !== null) tasks[was] -= 1
    if (is !== null) tasks[is] += 1
  }
  return {
    passed: tally.passed,
    note: (run, step, number, after, before) => {
      const place = () => placeOf(run, step, number)
      countDecision(tally, sets, after, run, place)
      if (after.blocked && !run.after.blocked && !run.after.asked)
        first_blocks.add(after.outcome === 'block' ? 0 : 1, () => ({
          ...place(),
          outcome: after.outcome,
          policies: causesOf(listed, after),
        }))
      noteTask(run, after.outcome, before?.outcome ?? null)
      if (before === null) return
      countDecision(tally, sets, before, run, place)
      if (before.outcome === after.outcome) return
      if (!run.flipped) tasks.flipped += 1
      run.flipped = true
      const flip = () => ({
        ...place(),
        before: before.outcome,
        after: after.outcome,
        policies: differencesOf(listed, before, after),
      })
      flips.add(rankOf(before.outcome, after.outcome), flip)
      onFlip?.(flip())
    },
    result: () => ({
      blocked_tasks: tasks.blocked,
      asked_tasks: tasks.asked,
      warned_tasks: tasks.warned,
      flipped_tasks: is_compared ? tasks.flipped : null,
      newly_blocked_tasks: is_compared ? tasks.newly_blocked : null,
      no_longer_blocked_tasks: is_compared ? tasks.no_longer_blocked : null,
      policies: rowsOf(tally, sets, 'new'),
      old_policies: is_compared ? rowsOf(tally, sets, 'old') : null,
      first_blocks: withRuns(first_blocks.result(), runs),
      flips: withRuns(flips.result(), runs),
    }),
  }
}

type Counter = Record<keyof Marks, number>

/** Marks the task with the outcome of a step, and counts the task the first time. */
function mark(marks: Marks, outcome: Outcome, counter: Counter | null): void {
  if (outcome === 'allow') return
  const key = ({ block: 'blocked', ask: 'asked', warn: 'warned' } as const)[outcome]
  if (!marks[key] && counter !== null) counter[key] += 1
  marks[key] = true
}

/** Whether only one of the two sets blocks the task. */
function differenceOf({ after, before }: Run): 'newly_blocked' | 'no_longer_blocked' | null {
  if (after.blocked === before.blocked) return null
  return after.blocked ? 'newly_blocked' : 'no_longer_blocked'
}

/** What begins to block comes first, then what ends to block, then questions, then reports. */
function rankOf(before: Outcome, after: Outcome): number {
  if (after === 'block') return 0
  if (before === 'block') return 1
  return before === 'ask' || after === 'ask' ? 2 : 3
}

function placeOf(run: Run, evaluated: Step, step: number | null): StepPlace {
  const { task_id, source: file, run_in_source } = run
  const { step_type, verb, step_name } = evaluated
  const source = run.last_source === file ? { file, run: run_in_source, runs: null } : null
  return { task_id, run: run.run, source, step, step_type, verb: verb ?? null, step_name: step_name ?? null }
}

/** Adds how many runs of the id its file has, which is known only at the end. */
function withRuns<T extends StepPlace>({ total, listed }: Listed<T>, runs: Runs): Listed<T> {
  return {
    total,
    listed: listed.map((found) => {
      const last = found.source === null ? null : runs.find(found.task_id)
      if (found.source === null || last === null || last.last_source !== found.source.file) return found
      return { ...found, source: { ...found.source, runs: last.run_in_last } }
    }),
  }
}
