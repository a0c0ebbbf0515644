// From stored or written policies to a PolicySet: compiled once, immutable, with everything refused named.
import type { DroppedPolicy, Policy, PolicyResult } from '@svc/schemas'
import { compileRule } from '../rules/compile-rule.js'
import type { Check, History, Scope, Tracker } from '../rules/rule.js'
import { ParameterError } from '../rules/rule.js'
import type { HistoryPlan } from './history.js'

/** A policy to be compiled, with the time until which it is waived for this agent, if it is. */
export interface PolicyInput extends Policy {
  readonly waived_until?: number
}

export interface CompiledPolicy {
  readonly policy: PolicyInput
  readonly check: Check
  /** What is reported when it is not violated; shared by all evaluations. */
  readonly passed: PolicyResult
}

export interface PolicySet extends HistoryPlan {
  readonly by_scope: Readonly<Record<Scope, readonly CompiledPolicy[]>>
  readonly dropped: readonly DroppedPolicy[]
  /** Enabled policies that were offered; those not in effect are in `dropped`. */
  readonly offered: number
  readonly count: number
}

/**
 * Compiles policies, in id order. A policy that cannot be compiled is dropped with its reason; the others stay in
 * effect. Disabled policies are neither offered nor dropped.
 */
export function compile(policies: readonly PolicyInput[]): PolicySet {
  const trackers: Tracker<unknown>[] = []
  const by_scope: Record<Scope, CompiledPolicy[]> = { agent_registration: [], step_execution: [], task_execution: [] }
  const dropped: DroppedPolicy[] = []
  const enabled = policies.filter((policy) => policy.enabled).sort((a, b) => a.id - b.id)
  for (const policy of enabled) {
    try {
      const check = compileRule(policy.rule_type, policy.params, environment(policy.scope, trackers))
      by_scope[policy.scope].push({ policy, check, passed: Object.freeze(resultOf(policy, false)) })
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      dropped.push(droppedPolicy(policy, error.message))
    }
  }
  const count = enabled.length - dropped.length
  return { trackers, by_scope, dropped, offered: enabled.length, count }
}

/** A result without details: what every policy that passes reports. */
export function resultOf(policy: PolicyInput, violated: boolean): PolicyResult {
  const { id, name, severity, rule_type, mode, manifest_id } = policy
  return {
    policy_id: id,
    name,
    severity,
    violated,
    violation_details: null,
    rule_type,
    mode,
    manifest_id,
    waived: false,
  }
}

function environment(scope: Scope, trackers: Tracker<unknown>[]) {
  return {
    scope,
    track: <S>(tracker: Tracker<S>) => {
      const known = trackers.findIndex((other) => other.key === tracker.key)
      const index = known >= 0 ? known : trackers.push(tracker as Tracker<unknown>) - 1
      return (history: History) => history.states[index] as S
    },
  }
}

function droppedPolicy(policy: PolicyInput, reason: string): DroppedPolicy {
  const { id, name, manifest_path } = policy
  return { name, reason, policy_id: id, source: manifest_path, line: null, column: null }
}
