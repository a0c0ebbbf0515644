// The decision on a step with the policies in effect.

import { actionDigest } from '@svc/proof'
import type { JsonMap, PolicyResult, Step } from '@svc/schemas'
import { factsAsReported, factsTightened, type ReportedContext } from '../agent/context.js'
import { type RiskLevel, riskLevelOf } from '../agent/risk.js'
import { approvalsRequired } from '../policy/approval.js'
import { atLevel, type PolicySet } from '../policy/compile.js'
import type { Decision } from '../policy/evaluate.js'
import { messageOf } from '../policy/messages.js'
import type { LoadedPolicies, PolicySource } from '../source/source.js'
import { isGoverned } from '../source/state.js'
import { type Evaluating, Task } from '../task/task.js'
import type { LocalEvaluation } from './decisions/local-evaluation.js'
import type { LocalTask } from './tasks/task.js'

export interface Evaluator {
  /** `happened`: the step is recorded, not intended. */
  readonly step: (task: LocalTask, step: Step, happened: boolean, given?: Given) => LocalEvaluation
  readonly registration: (agent: JsonMap) => LocalEvaluation
  /** The agent as rules see it: the registration and the context that the caller sends. */
  readonly facts: (registered: JsonMap | undefined, sent: ReportedContext) => JsonMap
}

interface Given {
  /** Default: of the step. */
  readonly occasion?: 'end'
  /** Of a large step it takes milliseconds. */
  readonly action_digest?: string
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
  const decide = (task: LocalTask, step: Step, how: Evaluating): Decision => {
    const policies = source.current()
    if (fail_closed && !isGoverned(policies.load_state)) return ungoverned(policies)
    const { facts } = task
    const set = setFor(task.set, policies, facts.risk_classification)
    return task.evaluate(step, facts, { ...how, set, now: clock() })
  }
  return {
    step: (task, step, happened, { action_digest = actionDigest(step), ...given } = {}) => ({
      evaluation_id: newId(),
      ...answerOf(decide(task, step, { happened, ...given }), task),
      action_digest,
      ...(task.is_lost && { history_lost: true }),
    }),
    registration: (agent) => {
      const policies = source.current()
      const set = setFor(policies.set, policies, agent.risk_classification)
      const { approvals: _, ...decision } = new Task(set).evaluate(null, agent, { now: clock() })
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
function answerOf({ approvals, ...decision }: Decision, { task_id }: LocalTask) {
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
