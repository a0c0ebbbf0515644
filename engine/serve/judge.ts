// The decision on a step with the policies in force now.

import { actionDigest } from '@svc/proof'
import type { JsonMap, PolicyResult, Step } from '@svc/schemas'
import { factsAsReported, factsTightened, type ReportedContext } from '../agent/context.js'
import { type RiskLevel, riskLevelOf } from '../agent/risk.js'
import { atLevel, type PolicySet } from '../policy/compile.js'
import { type Decision, evaluate } from '../policy/evaluate.js'
import { newHistory } from '../policy/history.js'
import type { Occasion } from '../policy/plan.js'
import type { LoadedPolicies, PolicySource } from '../source/source.js'
import { isGoverned } from '../source/state.js'
import type { JudgedEvaluation } from './judged.js'
import { historyWithReserved, type Task } from './task.js'

export interface Judge {
  readonly step: (task: Task, step: Step, occasion: Occasion) => JudgedEvaluation
  readonly registration: (agent: JsonMap) => JudgedEvaluation
  /** What rules see, given what was registered here and what the caller says. */
  readonly facts: (registered: JsonMap | undefined, said: ReportedContext) => JsonMap
}

export interface JudgeParts {
  readonly source: PolicySource
  /** Whether nothing is allowed while nothing is enforced. */
  readonly fail_closed: boolean
  readonly clock: () => number
  readonly newId: () => string
}

export function createJudge({ source, fail_closed, clock, newId }: JudgeParts): Judge {
  const setFor = levelledSets()
  const decide = (task: Task, step: Step, occasion: Occasion): Decision => {
    const policies = source.current()
    if (fail_closed && !isGoverned(policies.load_state)) return ungoverned(policies)
    const now = clock()
    const context = { step, agent: task.facts, context: task.facts, history: historyWithReserved(task, now), now }
    return evaluate(setFor(policies, task.facts.risk_classification), occasion, context)
  }
  return {
    step: (task, step, occasion) => ({
      evaluation_id: newId(),
      ...decide(task, step, occasion),
      action_digest: actionDigest(step),
      ...(task.history_lost && { history_lost: true }),
    }),
    registration: (agent) => {
      const set = setFor(source.current(), agent.risk_classification)
      const context = { step: null, agent, context: agent, history: newHistory(set), now: clock() }
      return { evaluation_id: newId(), ...evaluate(set, 'registration', context), action_digest: null }
    },
    facts: (registered = {}, said) => {
      const { agent } = source.current()
      if (agent !== null) return factsTightened({ ...agent }, said)
      return { risk_classification: 'unclassified', ...factsAsReported(registered, said) }
    },
  }
}

/**
 * Policies of a level above the agent's are left out, as they are when a manifest is put on an agent (docs/design/engine.md §4). A
 * platform has done that already.
 */
function levelledSets() {
  const known = new WeakMap<PolicySet, Map<RiskLevel, PolicySet>>()
  return ({ set, agent }: LoadedPolicies, said: unknown): PolicySet => {
    if (agent !== null) return set
    const level = riskLevelOf(said)
    const sets = known.get(set) ?? new Map<RiskLevel, PolicySet>()
    known.set(set, sets)
    const levelled = sets.get(level) ?? atLevel(set, level)
    sets.set(level, levelled)
    return levelled
  }
}

/** The one answer there is while nothing is enforced and nothing may pass unjudged (docs/design/engine.md §6). */
function ungoverned({ load_state }: LoadedPolicies): Decision {
  const violation_details = {
    code: 'UNGOVERNED',
    reason: `no policy is in effect: ${load_state}`,
    rule_type: 'ungoverned',
    params: {},
    evidence: [],
    remedy: 'give the engine policies that it can load; /health says what is wrong',
  }
  const policy: PolicyResult = {
    ...{ policy_id: 0, name: 'ungoverned', severity: 'critical', violated: true, violation_details },
    ...{ rule_type: 'ungoverned', mode: 'enforce', manifest_id: null, waived: false },
  }
  const reason = `\`ungoverned\` blocks: ${violation_details.reason}`
  const policies = [policy]
  return {
    action: 'block',
    blocked: true,
    outcome: 'block',
    reason,
    violations: policies,
    risk_score: 1,
    policies,
    passed: [],
  }
}
