// The effect of a change of policies on a recorded task that is given whole.
import { canonical } from '@svc/proof'
import type { JsonMap, Step } from '@svc/schemas'
import { forEveryAgent, type ReplayPolicy } from './policies.js'
import { createReplay, type Replay, type ReplayOptions, type TaskComparison } from './replay.js'

const unchanged: TaskComparison = { change: null, first_flip: null, blocked_step: null }

/**
 * Compares the steps of a task under the policies before and after a change, all of which are in effect for the given agent. The
 * policies are compiled once. The result is that of `createReplay` on the same steps.
 *
 * A policy that is only on one side must be violated or approved at a step: without one no outcome differs, as both sides evaluate
 * the same history, on which equal policies give equal results. Most tasks end there, and are evaluated under few policies.
 */
export function compareTasks(
  before: readonly ReplayPolicy[],
  after: readonly ReplayPolicy[],
): (steps: readonly Step[], agent: JsonMap) => TaskComparison {
  const given = { agent: {} as JsonMap }
  const replayOf = (options: Pick<ReplayOptions, 'policies' | 'against' | 'onStep'>) =>
    createReplay({ ...options, agent: () => given.agent, one_by_one: true, max_listed: 0 })
  const one_sided = [...without(after, before), ...without(before, after)]
  let found = false
  const detecting = replayOf({
    policies: forEveryAgent(one_sided),
    onStep: ({ after: { policies, passed } }) => {
      found ||= policies !== passed
    },
  })
  let comparing: Replay | null = null
  return (steps, agent) => {
    given.agent = agent
    found = false
    for (const step of one_sided.length === 0 ? [] : steps) {
      detecting.add({ kind: 'step', step })
      if (found) break
    }
    if (!found) return unchanged
    comparing ??= replayOf({ policies: forEveryAgent(after), against: forEveryAgent(before) })
    for (const step of steps) comparing.add({ kind: 'step', step })
    return comparing.comparisonOf(steps[0]?.task_id ?? '') ?? unchanged
  }
}

/** The policies that mean the same as none of the others. */
function without(policies: readonly ReplayPolicy[], others: readonly ReplayPolicy[]): ReplayPolicy[] {
  const known = new Set(others.map(meaningOf))
  return policies.filter((one) => !known.has(meaningOf(one)))
}

/** The members of a policy that the evaluation of a step reads: equal policies give equal results on the same history. */
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
