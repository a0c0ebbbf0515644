// The decision on one step, or on one registration (engine.md §5). Evaluating changes nothing.
import type { Evaluation, PolicyResult, ViolationDetails } from '@svc/schemas'
import { AmbiguousField } from '../rules/lookup.js'
import { type Answer, evidenceOf, type Finding, type Situation } from '../rules/rule.js'
import { canonicalType } from '../steps.js'
import type { PolicySet } from './compile.js'
import { type Occasion, type Question, resultOf } from './plan.js'
import { riskOf } from './risk.js'

/** The outcome of one evaluation without what costs more than all policies together: its id and the action's digest. */
export interface Decision extends Pick<Evaluation, 'action' | 'blocked' | 'outcome' | 'risk_score'> {
  /** Every policy in scope, in id order. When none is violated this is the plan's own list. */
  readonly policies: readonly PolicyResult[]
}

/**
 * Judges a situation; `situation.now` is milliseconds since 1970. Every policy in scope is reported, in id order. A check
 * that throws violates: broken never means allowed.
 */
export function evaluate(set: PolicySet, occasion: Occasion, situation: Situation): Decision {
  const plan = set.plans[occasion]
  const { step } = situation
  const asked = (step !== null && plan.by_type.get(canonicalType(step.step_type))) || plan.of_others
  let policies: PolicyResult[] | null = null
  let risk_score = 0
  let blocked = false
  for (let index = 0; index < asked.length; index++) {
    const question = asked[index] as Question
    const answer = ask(question, situation)
    if (typeof answer !== 'object') continue
    const result = violation(question, answer, situation.now)
    policies ??= plan.passed.slice()
    policies[question.index] = result
    if (result.mode !== 'enforce' || result.waived) continue
    risk_score = Math.max(risk_score, riskOf[result.severity])
    blocked ||= blocks(question)
  }
  const outcome = blocked ? 'block' : policies !== null ? 'warn' : 'allow'
  return { action: blocked ? 'block' : 'allow', blocked, outcome, risk_score, policies: policies ?? plan.passed }
}

/** Only what is critical blocks, and never what is found when the task is over. */
function blocks({ policy }: Question): boolean {
  return policy.severity === 'critical' && policy.scope !== 'task_execution'
}

function ask({ check }: Question, situation: Situation): Answer {
  try {
    return check(situation)
  } catch (error) {
    return failure(error, situation)
  }
}

/** What a check that threw is taken to have answered. */
export function failure(error: unknown, situation: Situation): Finding {
  const evidence = situation.step === null ? [] : [evidenceOf(situation.step)]
  if (error instanceof AmbiguousField) {
    const message = `\`${error.message}\` is said twice with different values`
    return { code: 'AMBIGUOUS_FIELD', message, evidence, remedy: `say \`${error.message}\` once` }
  }
  return { code: 'RULE_ERROR', message: 'the rule failed on this step', evidence }
}

function violation({ policy }: Question, finding: Finding, now: number): PolicyResult {
  const violation_details: ViolationDetails = {
    code: finding.code,
    message: finding.message,
    rule_type: policy.rule_type,
    params: policy.params,
    evidence: [...finding.evidence],
    remedy: finding.remedy ?? null,
  }
  const waived = policy.waived_until !== undefined && now < policy.waived_until
  return { ...resultOf(policy, true), violation_details, waived }
}
