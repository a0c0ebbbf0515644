// How often each policy applied, passed and was violated.
import type { PolicyResult } from '@svc/schemas'
import type { Decision } from '../policy/evaluate.js'
import { effectOf } from './replay-causes.js'
import type { PolicyTally, StepPlace } from './replay-result.js'
import type { ReplaySets, Side } from './replay-sets.js'
import type { ReplayedTask } from './replay-tasks.js'

/** Numbers by the id of the policy. */
export interface Tally {
  /** Counted during evaluation. */
  readonly passed: Float64Array
  readonly approved: Float64Array
  readonly violated: Float64Array
  readonly blocked: Float64Array
  readonly asked: Float64Array
  readonly tasks_violated: Float64Array
  readonly examples: PolicyTally['example'][]
}

export function newTally({ listed }: ReplaySets): Tally {
  const zeros = () => new Float64Array(listed.length)
  return {
    passed: zeros(),
    approved: zeros(),
    violated: zeros(),
    blocked: zeros(),
    asked: zeros(),
    tasks_violated: zeros(),
    examples: listed.map(() => null),
  }
}

/** Counts the violations and approvals of a decision. */
export function countDecision(
  tally: Tally,
  { listed }: ReplaySets,
  decision: Decision,
  task: ReplayedTask,
  place: () => StepPlace,
): void {
  // The shared list of results, when no policy is violated and none is approved.
  if (decision.policies === decision.passed) return
  for (const result of decision.policies) {
    const { policy_id: id } = result
    const policy = listed[id]
    if (policy === undefined) continue
    if (result.violated) {
      count(tally.violated, id)
      const effect = effectOf(policy, result, decision.outcome)
      if (effect === 'blocks') count(tally.blocked, id)
      if (effect === 'asks') count(tally.asked, id)
      countTask(tally, result, task, place)
    } else if (result.approved_by_step !== undefined) {
      count(tally.approved, id)
      count(tally.passed, id)
    }
  }
}

function countTask(
  { tasks_violated, examples }: Tally,
  { policy_id: id }: PolicyResult,
  task: ReplayedTask,
  place: () => StepPlace,
) {
  task.violated ??= new Set()
  if (task.violated.has(id)) return
  task.violated.add(id)
  count(tasks_violated, id)
  if (examples[id] !== null) return
  const { task_id, step } = place()
  examples[id] = { task_id, step }
}

function count(numbers: Float64Array, id: number): void {
  numbers[id] = (numbers[id] ?? 0) + 1
}

/** The policies of one set, in order. */
export function rowsOf(tally: Tally, sets: ReplaySets, side: Side): PolicyTally[] {
  return sets.listed.flatMap(({ policy, file, line, side: own }, id) => {
    if (own !== side) return []
    const at = (numbers: Float64Array) => numbers[id] ?? 0
    const { name, severity, mode, scope } = policy
    return [
      {
        name,
        manifest: file,
        line,
        severity,
        mode,
        scope,
        tasks: tasksWith(sets, side, id),
        applicable: at(tally.passed) + at(tally.violated),
        passed: at(tally.passed),
        approved: at(tally.approved),
        violated: at(tally.violated),
        blocked: at(tally.blocked),
        asked: at(tally.asked),
        tasks_violated: at(tally.tasks_violated),
        example: tally.examples[id] ?? null,
      },
    ]
  })
}

/** Tasks for whose agent the policy was in effect. */
function tasksWith({ views }: ReplaySets, side: Side, id: number): number {
  let tasks = 0
  for (const view of views()) {
    const set = side === 'new' ? view.set : view.against
    if (set?.policies.some(({ policy }) => policy.id === id)) tasks += view.tasks
  }
  return tasks
}
