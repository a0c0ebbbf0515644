// The decision on a step with the policies in effect.

import { actionDigest } from '@svc/proof'
import type { JsonMap, PolicyResult, Step } from '@svc/schemas'
import { factsAsReported, factsTightened, type ReportedContext } from '../agent/context.js'
import { type RiskLevel, riskLevelOf } from '../agent/risk.js'
import { approvalsRequired } from '../policy/approval.js'
import { atLevel, type PolicySet } from '../policy/compile.js'
import { type Decision, evaluate } from '../policy/evaluate.js'
import { newHistory } from '../policy/history.js'
import { messageOf } from '../policy/messages.js'
import type { Occasion } from '../policy/plan.js'
import type { LoadedPolicies, PolicySource } from '../source/source.js'
import { isGoverned } from '../source/state.js'
import type { LocalEvaluation } from './local-evaluation.js'
import { historyWithReserved, type Task } from './task.js'

export interface Evaluator {
  /** `happened`: the step is recorded, not intended. The digest of a large step takes milliseconds: a caller that has it gives it. */
  readonly step: (
    task: Task,
    step: Step,
    occasion: Occasion,
    happened: boolean,
    action_digest?: string,
  ) => LocalEvaluation
  readonly registration: (agent: JsonMap) => LocalEvaluation
  /** The agent as rules see it: the registration and the context that the caller sends. */
  readonly facts: (registered: JsonMap | undefined, sent: ReportedContext) => JsonMap
}

export interface EvaluatorParts {
  readonly source: PolicySource
  /** Blocks every step while no policy is in effect. */
  readonly fail_closed: boolean
  readonly clock: () => number
  readonly newId: () => string
}

export function createEvaluator({ source, fail_closed, clock, newId }: EvaluatorParts): Evaluator {
  const setFor = setsByLevel()
  const decide = (task: Task, step: Step, occasion: Occasion, happened: boolean): Decision => {
    const policies = source.current()
    if (fail_closed && !isGoverned(policies.load_state)) return ungoverned(policies)
    const now = clock()
    const history = historyWithReserved(task, now)
    const context = { step, agent: task.facts, context: task.facts, history, now, happened }
    return evaluate(setFor(task.policies.set, policies, task.facts.risk_classification), occasion, context)
  }
  return {
    step: (task, step, occasion, happened, action_digest = actionDigest(step)) => ({
      evaluation_id: newId(),
      ...answerOf(decide(task, step, occasion, happened), task),
      action_digest,
      ...(task.history_lost && { history_lost: true }),
    }),
    registration: (agent) => {
      const policies = source.current()
      const set = setFor(policies.set, policies, agent.risk_classification)
      const context = { step: null, agent, context: agent, history: newHistory(set), now: clock() }
      const { approvals: _, ...decision } = evaluate(set, 'registration', context)
      return { evaluation_id: newId(), ...decision, action_digest: null }
    },
    facts: (registered = {}, sent) => {
      const { agent } = source.current()
      if (agent !== null) return factsTightened({ ...agent }, sent)
      return { risk_classification: 'unclassified', ...factsAsReported(registered, sent) }
    },
  }
}

/** The decision with the bodies for /record that approve the step. */
function answerOf({ approvals, ...decision }: Decision, { task_id }: Task) {
  if (approvals.length === 0) return decision
  const approval_required = approvalsRequired(approvals, (gate) => ({ step: { task_id, ...gate } }))
  return { ...decision, approval_required }
}

/**
 * Leaves out policies of a level above the agent's, as an assignment does (docs/design/engine.md §4). Policies from a
 * platform are filtered already.
 */
function setsByLevel() {
  const known = new WeakMap<PolicySet, Map<RiskLevel, PolicySet>>()
  return (set: PolicySet, { agent }: LoadedPolicies, risk_classification: unknown): PolicySet => {
    if (agent !== null) return set
    const level = riskLevelOf(risk_classification)
    const sets = known.get(set) ?? new Map<RiskLevel, PolicySet>()
    known.set(set, sets)
    const filtered = sets.get(level) ?? atLevel(set, level)
    sets.set(level, filtered)
    return filtered
  }
}

/** The decision on every step while no policy is in effect and the engine fails closed (docs/design/engine.md §6). */
function ungoverned({ load_state }: LoadedPolicies): Decision {
  const violation_details = {
    code: 'UNGOVERNED',
    reason: `no policy is in effect: ${load_state}`,
    rule_type: 'ungoverned',
    params: {},
    evidence: [],
    remedy: 'give the engine valid policies; /health reports the errors',
  }
  const policy: PolicyResult = {
    policy_id: 0,
    name: 'ungoverned',
    severity: 'critical',
    violated: true,
    violation_details,
    rule_type: 'ungoverned',
    mode: 'enforce',
    manifest_id: null,
    waived: false,
    message: messageOf(violation_details.code),
  }
  const reason = `\`ungoverned\` blocks: ${violation_details.reason}`
  const policies = [policy]
  return {
    action: 'block',
    blocked: true,
    outcome: 'block',
    reason,
    message: messageOf(violation_details.code),
    violations: policies,
    approvals: [],
    risk_score: 1,
    policies,
    passed: [],
    manifests: [],
  }
}
