// The decision on one step, or on one registration (docs/design/engine.md §5). Evaluating changes nothing.
import type { Behavior, Evaluation, PolicyResult, RecordRequest, ViolationDetails } from '@svc/schemas'
import { riskOf } from '../agent/risk.js'
import { AmbiguousField } from '../rules/lookup.js'
import { evidenceOf, type RuleContext, Unjudgeable, type Violation } from '../rules/rule.js'
import type { PolicySet } from './compile.js'
import { type Occasion, type Question, resultOf } from './plan.js'

/** The outcome of one evaluation without what costs more than all policies together: its id and the action's digest. */
export interface Decision extends Pick<Evaluation, 'action' | 'blocked' | 'outcome' | 'reason' | 'risk_score'> {
  /** The violated policies, worst first: those that block, then by severity. */
  readonly violations: readonly PolicyResult[]
  /** Every policy in scope, in id order. */
  readonly policies: readonly PolicyResult[]
  /** The same list as it is when none is violated, which all decisions share: what is not violated stands in both. */
  readonly passed: readonly PolicyResult[]
}

/**
 * Judges a context; `context.now` is milliseconds since 1970. Every policy in scope is reported, in id order. A check
 * that throws violates: broken never means allowed.
 */
export function evaluate(set: PolicySet, occasion: Occasion, context: RuleContext): Decision {
  const plan = set.plans[occasion]
  const { step } = context
  const asked = plan.asked(step)
  let policies: PolicyResult[] | null = null
  const violations: PolicyResult[] = []
  let blocking = 0
  let risk_score = 0
  for (let next = firstViolated(asked, 0, context); next !== null; next = firstViolated(asked, next.after, context)) {
    const { question, answer } = next
    const result = violation(question, answer, context)
    const counts = result.mode === 'enforce' && !result.waived
    const isBlocking = counts && blocks(question)
    // Those that block stand first, the severest of the others behind them; in id order where both are the same.
    if (isBlocking) violations.splice(blocking++, 0, result)
    else insertBySeverity(violations, blocking, result)
    // Not `slice`, which takes a hundred times as long on a frozen list.
    policies ??= [...plan.passed]
    policies[question.index] = result
    if (counts) risk_score = Math.max(risk_score, riskOf[result.severity])
  }
  const { passed } = plan
  const blocked = blocking > 0
  return {
    action: blocked ? 'block' : 'allow',
    blocked,
    outcome: blocked ? 'block' : policies !== null ? 'warn' : 'allow',
    reason: blocked ? reasonOf(violations[0], blocking - 1) : null,
    violations,
    risk_score,
    policies: policies ?? passed,
    passed,
  }
}

/** Keeps the results from `from` on in order of severity; few are violated, so that the list is short. */
function insertBySeverity(violations: PolicyResult[], from: number, result: PolicyResult): void {
  let at = violations.length
  while (at > from && riskOf[(violations[at - 1] as PolicyResult).severity] < riskOf[result.severity]) at--
  if (at === violations.length) violations.push(result)
  else violations.splice(at, 0, result)
}

/** One sentence on the policies that block, worst first. */
function reasonOf(worst: PolicyResult | undefined, others: number): string {
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'policy blocks' : 'policies block'})`
  return `\`${worst?.name}\` blocks: ${worst?.violation_details?.reason}${more}`
}

/** Only what is critical blocks, and never what is found when the task is over. */
function blocks({ policy }: Question): boolean {
  return policy.severity === 'critical' && policy.scope !== 'task_execution'
}

interface Violated {
  readonly question: Question
  readonly answer: Violation
  /** Where to go on. */
  readonly after: number
}

/** The first question from `start` on that is answered with a violation; one `try` for all that pass is much cheaper. */
function firstViolated(asked: readonly Question[], start: number, context: RuleContext): Violated | null {
  let index = start
  try {
    for (; index < asked.length; index++) {
      const question = asked[index] as Question
      const answer = question.check(context)
      if (typeof answer === 'object') return { question, answer, after: index + 1 }
    }
    return null
  } catch (error) {
    return { question: asked[index] as Question, answer: failure(error, context), after: index + 1 }
  }
}

/** What a check that threw is taken to have answered. */
export function failure(error: unknown, context: RuleContext): Violation {
  const evidence = context.step === null ? [] : [evidenceOf(context.step)]
  if (error instanceof AmbiguousField) {
    const message = `\`${error.message}\` is said twice with different values`
    return { code: 'AMBIGUOUS_FIELD', message, evidence, remedy: `say \`${error.message}\` once` }
  }
  if (error instanceof Unjudgeable) return error.violation
  return { code: 'RULE_ERROR', message: 'the rule failed on this step', evidence }
}

function violation({ policy }: Question, violation: Violation, { step, now }: RuleContext): PolicyResult {
  const violation_details: ViolationDetails = {
    code: violation.code,
    reason: violation.message,
    rule_type: policy.rule_type,
    params: policy.params,
    evidence: [...violation.evidence],
    remedy: violation.remedy ?? null,
    ...(violation.remedy_steps && { remedy_steps: bodiesOf(violation.remedy_steps, step?.task_id) }),
  }
  const waived = policy.waived_until !== undefined && now < policy.waived_until
  return { ...resultOf(policy, true), violation_details, waived }
}

/** What to send to /record, each in the task of the step that is evaluated. */
function bodiesOf(steps: readonly Behavior[], task_id: string | undefined): RecordRequest[] {
  return steps.map((step) => ({ step: { ...(task_id !== undefined && { task_id }), ...step } }))
}
