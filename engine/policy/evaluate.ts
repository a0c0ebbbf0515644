// The decision on one step, or on one registration (docs/design/engine.md §5). Evaluating changes nothing.
import type { Behavior, Evaluation, EvidenceStep, JsonMap, PolicyResult, ViolationDetails } from '@svc/schemas'
import { riskOf } from '../agent/risk.js'
import { quote } from '../check/quote.js'
import { CannotEvaluate, evidenceOf, PASS, type RuleContext, type Violation } from '../rules/form/rule.js'
import { AmbiguousField } from '../rules/values/members.js'
import type { MissingApproval } from './approval.js'
import type { PolicySet } from './compile.js'
import { askMessage, messageOf, noticeMessage, rejectedMessage } from './messages.js'
import { isEnd, type Occasion, type PlannedPolicy, resultOf } from './plan.js'
import type { PolicyInput } from './policy-input.js'

/** The outcome of one evaluation, without its id and the digest of the action, which cost more than all policies. */
export interface Decision
  extends Pick<Evaluation, 'action' | 'blocked' | 'outcome' | 'reason' | 'message' | 'risk_score' | 'manifests'> {
  /** The violated policies, worst first: those that block, then by severity. */
  readonly violations: readonly PolicyResult[]
  /** With the outcome `ask`: the approvals that the step lacks. */
  readonly approvals: readonly MissingApproval[]
  /** Every policy in scope, in id order. */
  readonly policies: readonly PolicyResult[]
  /** The results if no policy were violated; all decisions share this list. A policy that is not violated is in both lists. */
  readonly passed: readonly PolicyResult[]
}

/** Counts of the steps that each policy applied to and that its rule passed, by its id; a typed array if ids are small. */
export interface PassCounts {
  [policy_id: number]: number
}

/**
 * Evaluates a context. The decision reports every policy in scope, in id order. A check that throws is a violation: an error
 * never allows a step. For each policy that applied and whose rule passed, `passed` has one more at its id.
 */
export function evaluate(
  set: PolicySet,
  occasion: Occasion,
  given: RuleContext,
  passed: PassCounts | null = null,
): Decision {
  const { step, agent, history, now, happened = false, readings = [] } = given
  const context: RuleContext = { step, agent, context: given.context, history, now, happened, readings }
  const plan = set.plans[occasion]
  const applicable = plan.applicable(step)
  const findings = newFindings()
  let policies: PolicyResult[] | null = null
  for (
    let next = firstViolated(applicable, 0, context, passed);
    next !== null;
    next = firstViolated(applicable, next.after, context, passed)
  ) {
    // Not `slice`, which takes a hundred times as long for a frozen list.
    policies ??= [...plan.passed]
    policies[next.planned.index] = resultFor(findings, next, context)
  }
  return decisionOf(findings, policies ?? plan.passed, plan.passed, set.manifests)
}

/** The outcome of the violated policies together. */
interface Findings {
  /** Worst first: the violations that block, those that an approval would lift, then the others by severity. */
  readonly violations: PolicyResult[]
  readonly approvals: MissingApproval[]
  blocking: number
  risk_score: number
}

function newFindings(): Findings {
  return { violations: [], approvals: [], blocking: 0, risk_score: 0 }
}

/** The result of a policy whose rule is violated: a valid approval makes the policy pass. */
function resultFor(findings: Findings, { planned, answer }: Violated, context: RuleContext): PolicyResult {
  const { violations, approvals } = findings
  const result = resultWith(planned, answer, context)
  const counts = result.mode === 'enforce' && !result.waived
  const isBlocking = stopsStep(planned.policy, result)
  const approval = (isBlocking && planned.approval?.(context)) || null
  if (approval !== null && 'step' in approval)
    return { ...resultOf(planned.policy, null, false), approved_by_step: approval.step }
  const rejection = approval?.rejection ?? null
  if (rejection !== null) withRejection(result, rejection)
  else result.message = approval !== null ? askMessage : isBlocking ? messageOf(answer.code) : noticeMessage
  if (counts) findings.risk_score = Math.max(findings.risk_score, riskOf[result.severity])
  if (approval !== null) {
    // A rejection comes first: no other approval helps.
    violations.splice(findings.blocking + (rejection === null ? approvals.length : 0), 0, result)
    approvals.push(approval.missing)
  } else if (isBlocking) {
    // A stop comes first: the reason names it, and no other remedy helps.
    violations.splice(planned.policy.rule_type === 'stopped' ? 0 : findings.blocking, 0, result)
    findings.blocking += 1
  } else insertBySeverity(violations, findings.blocking + approvals.length, result)
  return result
}

/** The outcome stays `ask`, because a person may think again. */
function withRejection(result: PolicyResult, { step }: EvidenceStep): void {
  result.message = rejectedMessage
  const details = result.violation_details
  if (details !== null)
    result.violation_details = { ...details, reason: `a person rejected this step at step ${step}: ${details.reason}` }
}

function decisionOf(
  { violations, approvals, blocking, risk_score }: Findings,
  policies: readonly PolicyResult[],
  passed: readonly PolicyResult[],
  manifests: PolicySet['manifests'],
): Decision {
  const outcome = blocking > 0 ? 'block' : approvals.length > 0 ? 'ask' : violations.length > 0 ? 'warn' : 'allow'
  const blocked = outcome === 'block' || outcome === 'ask'
  return {
    action: blocked ? 'block' : 'allow',
    blocked,
    outcome,
    reason: blocked ? reasonOf(outcome, violations[0], (blocking || approvals.length) - 1) : null,
    message: blocked ? (violations[0]?.message ?? null) : null,
    violations,
    approvals: outcome === 'ask' ? approvals : [],
    risk_score,
    policies,
    passed,
    manifests,
  }
}

/** Keeps the results from index `from` in order of severity; the list is short, because few policies are violated. */
function insertBySeverity(violations: PolicyResult[], from: number, result: PolicyResult): void {
  let at = violations.length
  while (at > from && riskOf[(violations[at - 1] as PolicyResult).severity] < riskOf[result.severity]) at--
  if (at === violations.length) violations.push(result)
  else violations.splice(at, 0, result)
}

/** One sentence on the policies that block or ask, worst first. */
function reasonOf(outcome: 'block' | 'ask', worst: PolicyResult | undefined, others: number): string {
  const [does, all] = outcome === 'block' ? ['blocks', 'block'] : ['asks for an approval', 'ask']
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? `policy ${all}s` : `policies ${all}`})`
  return `\`${worst?.name}\` ${does}: ${worst?.violation_details?.reason}${more}`
}

/** True if this violation blocks its step, or asks: the policy is critical and its scope is not the finished task. */
export function stopsStep(
  { severity, scope }: Pick<PolicyInput, 'severity' | 'scope'>,
  { mode, waived }: Pick<PolicyResult, 'mode' | 'waived'>,
): boolean {
  return severity === 'critical' && scope !== 'task_execution' && mode === 'enforce' && !waived
}

interface Violated {
  readonly planned: PlannedPolicy
  readonly answer: Violation
  /** The index to continue at. */
  readonly after: number
}

/** The first violation from index `start`. One `try` for all policies that pass is much cheaper than one for each. */
function firstViolated(
  applicable: readonly PlannedPolicy[],
  start: number,
  context: RuleContext,
  passed: PassCounts | null,
): Violated | null {
  let index = start
  try {
    for (; index < applicable.length; index++) {
      const planned = applicable[index] as PlannedPolicy
      const answer = planned.check(context)
      if (typeof answer === 'object') return { planned, answer, after: index + 1 }
      if (passed !== null && answer === PASS) passed[planned.policy.id] = (passed[planned.policy.id] ?? 0) + 1
    }
    return null
  } catch (error) {
    return { planned: applicable[index] as PlannedPolicy, answer: failure(error, context), after: index + 1 }
  }
}

/** The violation for a check that threw an error. */
export function failure(error: unknown, context: RuleContext): Violation {
  const evidence = context.step === null ? [] : [evidenceOf(context.step)]
  if (error instanceof AmbiguousField) {
    return { code: 'AMBIGUOUS_FIELD', message: error.message, evidence, remedy: error.remedy }
  }
  if (error instanceof CannotEvaluate) return error.violation
  return { code: 'RULE_ERROR', message: 'the rule failed on this step', evidence }
}

function resultWith(planned: PlannedPolicy, violation: Violation, context: RuleContext): PolicyResult {
  const { policy } = planned
  const { step, now } = context
  const violation_details: ViolationDetails = {
    code: violation.code,
    reason: violation.message + (planned.reads_history ? afterEnd(context) : ''),
    rule_type: policy.rule_type,
    params: policy.params,
    evidence: violation.evidence.slice(),
    remedy: violation.remedy ?? null,
  }
  const { remedy_steps } = violation
  if (remedy_steps !== undefined) violation_details.remedy_steps = bodiesOf(remedy_steps, step?.task_id)
  const waived = policy.waived_until !== undefined && now < policy.waived_until
  return resultOf(policy, violation_details, waived)
}

/** Tells a reader whose task id continues after an end what the history of this step is. */
function afterEnd({ step, history: { end } }: RuleContext): string {
  if (step === null || end === null || isEnd(step)) return ''
  // A task id of an old entry may be anything.
  const task = typeof step.task_id === 'string' ? `task ${quote(step.task_id)}` : 'the task'
  return `; ${task} ended at step ${end.step}: use a new id for each run`
}

/** The bodies to send to /record, each in the task of the evaluated step. */
function bodiesOf(steps: readonly Behavior[], task_id: string | undefined): JsonMap[] {
  return steps.map((step) => ({ step: { ...(task_id !== undefined && { task_id }), ...step } }))
}
