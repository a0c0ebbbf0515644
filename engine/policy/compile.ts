// Compiles policies to a PolicySet: once, immutable, with a reason for each rejected policy.
import type { DroppedPolicy, Evaluation } from '@svc/schemas'
import { levelApplies, type RiskLevel } from '../agent/risk.js'
import { ParameterError } from '../check/parameter-error.js'
import { compileRule } from '../rules/compile-rule.js'
import { newReadings } from '../rules/form/readings.js'
import type { History, Scope, Tracker } from '../rules/form/rule.js'
import { compileApproval } from './approval.js'
import { addDeferred, type HistoryPlan } from './history.js'
import { type CompiledPolicy, type Plans, plansOf } from './plan.js'
import type { PolicyInput } from './policy-input.js'

export interface PolicySet extends HistoryPlan {
  readonly policies: readonly CompiledPolicy[]
  readonly plans: Plans
  readonly dropped: readonly DroppedPolicy[]
  /** The number of enabled policies, rejected ones included. */
  readonly offered: number
  readonly count: number
  /** The versions of manifests that the policies come from, in the order of their first policies. */
  readonly manifests: Evaluation['manifests']
}

/**
 * Compiles policies, in id order. A policy that cannot be compiled is rejected with its reason; the others stay in
 * effect. Disabled policies are left out.
 */
export function compile(offered: readonly PolicyInput[]): PolicySet {
  return compileWith(offered, newEnvironment(false))
}

/** The same for policies that parseManifest found valid: their parameters are not checked against schemas again. */
export function compileValid(offered: readonly PolicyInput[]): PolicySet {
  return compileWith(offered, newEnvironment(true))
}

function compileWith(offered: readonly PolicyInput[], environment: ReturnType<typeof newEnvironment>): PolicySet {
  const policies: CompiledPolicy[] = []
  const dropped: DroppedPolicy[] = []
  const enabled = offered.filter((policy) => policy.enabled).sort((a, b) => a.id - b.id)
  for (const policy of enabled) {
    try {
      const own = environment.at(policy.scope, policy.severity === 'critical' && policy.scope === 'step_execution')
      const rule = compileRule(policy.rule_type, policy.params, own)
      const approval = compileApproval(policy, own)
      policies.push({ policy, ...rule, approval, reads_history: own.tracked() })
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      dropped.push(rejected(policy, error.message))
    }
  }
  const { trackers } = environment
  return { trackers, dropped, offered: enabled.length, ...effectOf(policies) }
}

/**
 * The part of the set that applies to an agent of that level, for policies of a manifest without an assignment. It
 * indexes histories as the whole set does, so that both can use one history.
 */
export function atLevel(set: PolicySet, level: RiskLevel): PolicySet {
  const policies = set.policies.filter(({ policy }) => levelApplies(policy.risk_classification, level))
  return policies.length === set.policies.length ? set : withPolicies(set, policies)
}

/** The set with some of its policies, or with their waivers for one agent. It indexes histories as the whole set does. */
export function withPolicies(set: PolicySet, policies: readonly CompiledPolicy[]): PolicySet {
  return { ...set, ...effectOf(policies) }
}

/** The parts of a set that follow from its policies in effect. */
function effectOf(policies: readonly CompiledPolicy[]) {
  return { policies, plans: plansOf(policies), count: policies.length, manifests: manifestsOf(policies) }
}

function manifestsOf(policies: readonly CompiledPolicy[]): PolicySet['manifests'] {
  const versions = policies.flatMap(({ policy: { manifest_id, manifest_sha: sha } }) =>
    manifest_id === null || sha === null ? [] : [[`${manifest_id} ${sha}`, { manifest_id, sha }] as const],
  )
  return [...new Map(versions).values()]
}

/** Trackers with the same key share one slot of the history. */
function newEnvironment(valid: boolean) {
  const trackers: Tracker<unknown>[] = []
  const known = new Map<string, number>()
  const track = <S>(tracker: Tracker<S>) => {
    const index = known.get(tracker.key) ?? trackers.push(tracker as Tracker<unknown>) - 1
    known.set(tracker.key, index)
    const read = (history: History) => history.states[index] as S
    if (tracker.costly === undefined) return Object.assign(read, { slot: index })
    const readAll = (history: History) => {
      if (history.deferred !== null) addDeferred({ trackers }, history, index, history.deferred)
      return history.states[index] as S
    }
    return Object.assign(readAll, { slot: index })
  }
  const readings = newReadings()
  const at = (scope: Scope, blocks: boolean) => {
    let tracked = false
    const trackOwn: typeof track = (tracker) => {
      tracked = true
      return track(tracker)
    }
    return { scope, valid, blocks, track: trackOwn, readings, tracked: () => tracked }
  }
  return { trackers, at }
}

function rejected(policy: PolicyInput, reason: string): DroppedPolicy {
  const { id, name, severity, manifest_path } = policy
  return { name, reason, severity, policy_id: id, source: manifest_path, line: null, column: null }
}
