// A decision with the answer of every policy, for `svc explain`.
import type { Evaluation, PolicyResult } from '@svc/schemas'
import { type Answer, NOT_APPLICABLE, type RuleContext } from '../rules/form/rule.js'
import type { PolicySet } from './compile.js'
import { type Decision, evaluate } from './evaluate.js'
import type { CompiledPolicy, Occasion } from './plan.js'

export interface ExplainedPolicy extends PolicyResult {
  readonly answer: 'passed' | 'approved' | 'not_applicable' | 'violated'
  readonly description: string | null
}

export interface Explanation
  extends Pick<Evaluation, 'action' | 'outcome' | 'risk_score'>,
    Pick<Decision, 'approvals'> {
  readonly policies: readonly ExplainedPolicy[]
}

/** Evaluates the context, and distinguishes policies that passed from those that are not applicable. */
export function explain(set: PolicySet, occasion: Occasion, context: RuleContext): Explanation {
  const { action, outcome, risk_score, approvals, policies } = evaluate(set, occasion, context)
  const compiled = new Map(set.policies.map((policy) => [policy.policy.id, policy]))
  const explained = policies.map((result): ExplainedPolicy => {
    const own = compiled.get(result.policy_id)
    return { ...result, answer: answerOf(result, own, context), description: own?.policy.description ?? null }
  })
  return { action, outcome, risk_score, approvals, policies: explained }
}

function answerOf(
  result: PolicyResult,
  own: CompiledPolicy | undefined,
  context: RuleContext,
): ExplainedPolicy['answer'] {
  if (result.violated) return 'violated'
  if (result.approved_by_step !== undefined) return 'approved'
  return own !== undefined && isApplicable(own, context) ? 'passed' : 'not_applicable'
}

/** Called for policies that are not violated, whose check therefore does not throw. */
function isApplicable({ check }: CompiledPolicy, context: RuleContext): boolean {
  const answer: Answer = check(context)
  return answer !== NOT_APPLICABLE
}
