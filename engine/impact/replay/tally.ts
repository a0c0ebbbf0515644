// Counts of applications, passes and violations of each policy.
import type { Decision } from '../../policy/evaluate.js'
import { effectOf } from './causes.js'
import type { PolicyTally, StepPlace } from './result.js'
import type { ReplaySets, Side } from './sets.js'
import type { ReplayedTask } from './tasks.js'

type Counts = Pick<PolicyTally, 'approved' | 'violated' | 'blocked' | 'asked' | 'tasks_violated' | 'example'>

/** By the id of the policy. */
export interface Tally {
  /** Counted during evaluation. */
  readonly passed: Float64Array
  readonly counts: readonly { -readonly [name in keyof Counts]: Counts[name] }[]
}

export function newTally({ listed }: ReplaySets): Tally {
  const zeros = { approved: 0, violated: 0, blocked: 0, asked: 0, tasks_violated: 0, example: null }
  return { passed: new Float64Array(listed.length), counts: listed.map(() => ({ ...zeros })) }
}

/** Counts the violations and approvals of a decision. */
export function countDecision(
  { passed, counts }: Tally,
  { listed }: ReplaySets,
  decision: Decision,
  task: ReplayedTask,
  place: () => StepPlace,
): void {
  // The shared list of results, when no policy is violated and none is approved.
  if (decision.policies === decision.passed) return
  for (const result of decision.policies) {
    const { policy_id: id } = result
    const [policy, own] = [listed[id], counts[id]]
    if (policy === undefined || own === undefined) continue
    if (result.violated) {
      own.violated += 1
      const effect = effectOf(policy, result, decision.outcome)
      if (effect === 'blocks') own.blocked += 1
      if (effect === 'asks') own.asked += 1
      task.violated ??= new Set()
      if (task.violated.has(id)) continue
      task.violated.add(id)
      own.tasks_violated += 1
      const { task_id, step } = place()
      own.example ??= { task_id, step }
    } else if (result.approved_by_step !== undefined) {
      own.approved += 1
      passed[id] = (passed[id] ?? 0) + 1
    }
  }
}

/** The policies of one set, in order. */
export function rowsOf(tally: Tally, sets: ReplaySets, side: Side): PolicyTally[] {
  return sets.listed.flatMap(({ policy, file, line, side: own }, id) => {
    const counts = tally.counts[id]
    if (own !== side || counts === undefined) return []
    const { name, severity, mode, scope } = policy
    const passed = tally.passed[id] ?? 0
    const tasks = tasksWith(sets, side, id)
    const applicable = passed + counts.violated
    return [{ name, manifest: file, line, severity, mode, scope, tasks, applicable, passed, ...counts }]
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
