// What a change of policies would do to recorded tasks, each given whole.
import { canonical } from '@svc/proof'
import type { JsonMap, Step } from '@svc/schemas'
import { createReplay, type EvaluatedStep, type Replay } from './replay.js'
import type { ReplayPolicies, ReplayPolicy } from './replay-policies.js'
import type { Flip } from './replay-result.js'
import { changeOf, mark, newMarks, type TaskChange } from './replay-tasks.js'

export interface TaskComparison {
  /** Null for a task without such a change, also when a step flips to or from a report alone. */
  readonly change: TaskChange | null
  /** The first step whose outcome differs, in the order of the task; its `source` is null. */
  readonly first_flip: Flip | null
  /** Of a newly blocked task: the first step that blocks; null where the steps end, and for other tasks. */
  readonly blocked_step: number | null
}

/**
 * Compares the steps of a task under the policies before and after a change, all of which are in effect for the given agent. The
 * policies are compiled once. The result is that of `createReplay` on the same steps.
 */
export function compareTasks(
  before: readonly ReplayPolicy[],
  after: readonly ReplayPolicy[],
): (steps: readonly Step[], agent: JsonMap) => TaskComparison {
  const given = { agent: {} as JsonMap }
  const canChange = detector(before, after, given)
  let compare: ReturnType<typeof comparer> | null = null
  return (steps, agent) => {
    given.agent = agent
    if (!canChange(steps)) return { change: null, first_flip: null, blocked_step: null }
    compare ??= comparer(before, after, given)
    return compare(steps)
  }
}

/** The agent of the current task. */
interface Given {
  agent: JsonMap
}

/**
 * Whether a policy that is only on one side is violated or approved at a step. Without one no outcome differs: both sides evaluate
 * the same history, on which equal policies give equal results. Most tasks end here, and are evaluated under few policies.
 */
function detector(before: readonly ReplayPolicy[], after: readonly ReplayPolicy[], given: Given) {
  const [old, now] = [new Set(before.map(meaningOf)), new Set(after.map(meaningOf))]
  const one_sided = [
    ...after.filter((one) => !old.has(meaningOf(one))),
    ...before.filter((one) => !now.has(meaningOf(one))),
  ]
  if (one_sided.length === 0) return () => false
  let found = false
  const replay = replayOf(given, { policies: forEveryAgent(one_sided) }, ({ after: { policies, passed } }) => {
    found ||= policies !== passed
  })
  return (steps: readonly Step[]) => {
    found = false
    for (const step of steps) {
      replay.add({ kind: 'step', step })
      if (found) return true
    }
    return false
  }
}

/** Both sides in full. */
function comparer(before: readonly ReplayPolicy[], after: readonly ReplayPolicy[], given: Given) {
  const marks = { now: newMarks(), old: newMarks() }
  let first_flip: Flip | null = null
  let blocked: Flip | null = null
  const sides = { policies: forEveryAgent(after), against: forEveryAgent(before) }
  const note = ({ after: now, before: old }: EvaluatedStep) => {
    mark(marks.now, now.outcome)
    if (old !== null) mark(marks.old, old.outcome)
  }
  const replay = replayOf(given, sides, note, (flip) => {
    first_flip ??= { ...flip, source: null }
    if (flip.after === 'block') blocked ??= flip
  })
  return (steps: readonly Step[]): TaskComparison => {
    Object.assign(marks, { now: newMarks(), old: newMarks() })
    first_flip = null
    blocked = null
    for (const step of steps) replay.add({ kind: 'step', step })
    const change = changeOf(marks.old, marks.now)
    return { change, first_flip, blocked_step: change === 'newly_blocked' ? stepOf(blocked) : null }
  }
}

function stepOf(flip: Flip | null): number | null {
  return flip === null ? null : flip.step
}

type Sides = Readonly<{ policies: ReplayPolicies; against?: ReplayPolicies }>

function replayOf(
  given: Given,
  sides: Sides,
  onStep: (evaluated: EvaluatedStep) => void,
  onFlip: (flip: Flip) => void = () => undefined,
): Replay {
  return createReplay({ ...sides, agent: () => given.agent, one_by_one: true, max_listed: 0, onStep, onFlip })
}

function forEveryAgent(policies: readonly ReplayPolicy[]): ReplayPolicies {
  return { policies, keyOf: () => '', onAgent: ({ policy }) => policy }
}

/** What the evaluation of a step reads of a policy: equal policies give equal results on the same history. */
function meaningOf({ policy }: ReplayPolicy): string {
  const { name, rule_type, params, scope, severity, mode, enabled, approval, waived_until } = policy
  return canonical({
    name,
    rule_type,
    params,
    scope,
    severity,
    mode,
    enabled,
    approval: approval ?? null,
    waived_until: waived_until ?? null,
  })
}
