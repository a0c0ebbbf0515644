// The result of a replay: tasks by outcome, first blocks, and steps whose outcome differs between two policy sets.
import { isBlocked, type Step } from '@svc/schemas'
import type { Decision } from '../../policy/evaluate.js'
import { causesOf, differencesOf } from './causes.js'
import { createList } from './list.js'
import type { FirstBlock, Flip, Outcome, StepPlace } from './result.js'
import type { ReplaySets } from './sets.js'
import { countDecision, newTally, rowsOf } from './tally.js'
import { changeOf, type Marks, mark, type ReplayedTask } from './tasks.js'

export type Outcomes = ReturnType<typeof createOutcomes>

export function createOutcomes(sets: ReplaySets, max_listed: number) {
  const { listed, is_compared } = sets
  const tally = newTally(sets)
  const first_blocks = createList<FirstBlock>(max_listed)
  const flips = createList<Flip>(max_listed)
  const tasks = { blocked: 0, asked: 0, warned: 0, flipped: 0, newly_blocked: 0, newly_asked: 0, no_longer_blocked: 0 }
  const noteTask = (task: ReplayedTask, after: Outcome, before: Outcome | null) => {
    const was = changeOf(task.before, task.after)
    markAndCount(task.after, after, tasks)
    if (before === null) return
    mark(task.before, before)
    const is = changeOf(task.before, task.after)
    if (was !== null) tasks[was] -= 1
    if (is !== null) tasks[is] += 1
  }
  return {
    /** Evaluations count the policies that passed here, by id. */
    passed: tally.passed,
    /** Notes a step with a violation or an approval; `before` is null without a set to compare with. */
    note: (task: ReplayedTask, step: Step, number: number | null, after: Decision, before: Decision | null) => {
      const place = () => placeOf(task, step, number)
      countDecision(tally, sets, after, task, place)
      if (after.blocked && !task.after.blocked && !task.after.asked)
        first_blocks.add(after.outcome === 'block' ? 0 : 1, () => ({
          ...place(),
          outcome: after.outcome,
          policies: causesOf(listed, after),
        }))
      if (after.outcome === 'block' && !task.after.blocked) task.blocked_step = number
      noteTask(task, after.outcome, before?.outcome ?? null)
      if (before === null) return
      countDecision(tally, sets, before, task, place)
      if (before.outcome === after.outcome) return
      const policies = () => differencesOf(listed, before, after)
      const flip = () => ({ ...place(), before: before.outcome, after: after.outcome, policies: policies() })
      if (!task.flipped) {
        tasks.flipped += 1
        task.flipped = true
        task.first_flip = flip()
      }
      flips.add(rankOf(before.outcome, after.outcome), flip)
    },
    result: () => ({
      blocked_tasks: tasks.blocked,
      asked_tasks: tasks.asked,
      warned_tasks: tasks.warned,
      flipped_tasks: is_compared ? tasks.flipped : null,
      newly_blocked_tasks: is_compared ? tasks.newly_blocked : null,
      newly_asked_tasks: is_compared ? tasks.newly_asked : null,
      no_longer_blocked_tasks: is_compared ? tasks.no_longer_blocked : null,
      policies: rowsOf(tally, sets, 'new'),
      old_policies: is_compared ? rowsOf(tally, sets, 'old') : null,
      first_blocks: first_blocks.result(),
      flips: flips.result(),
    }),
  }
}

/** Marks the task with the outcome of a step, and counts the task the first time. */
function markAndCount(marks: Marks, outcome: Outcome, counter: Record<keyof Marks, number>): void {
  if (outcome === 'allow') return
  const key = ({ block: 'blocked', ask: 'asked', warn: 'warned' } as const)[outcome]
  if (!marks[key]) counter[key] += 1
  mark(marks, outcome)
}

/** New blocks come first, then ended blocks, then questions, then reports. */
function rankOf(before: Outcome, after: Outcome): number {
  if (after === 'block') return 0
  if (before === 'block') return 1
  return before === 'ask' || after === 'ask' ? 2 : 3
}

function placeOf({ task_id, source, one_source }: ReplayedTask, evaluated: Step, step: number | null): StepPlace {
  const { step_type, verb, step_name } = evaluated
  return {
    task_id,
    source: one_source ? source : null,
    step,
    step_type,
    verb: verb ?? null,
    step_name: step_name ?? null,
    happened: !isBlocked(evaluated),
  }
}
