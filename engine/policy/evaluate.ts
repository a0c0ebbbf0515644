// The decision on one step, or on one registration (engine.md §5). Evaluating changes nothing.
import type { Evaluation, PolicyResult, ViolationDetails } from '@svc/schemas'
import { AmbiguousField } from '../rules/lookup.js'
import { type Answer, evidenceOf, type Finding, type Scope, type Situation } from '../rules/rule.js'
import { type CompiledPolicy, type PolicySet, resultOf } from './compile.js'
import { riskOf } from './risk.js'

/** The outcome of one evaluation without the two members that cost more than all policies together. */
export type Decision = Omit<Evaluation, 'evaluation_id' | 'action_digest'>

/**
 * Judges a situation under the policies of the given scopes. `situation.now` is milliseconds since 1970. Every policy
 * in scope is reported, in id order. A check that throws violates: broken never means allowed.
 */
export function evaluate(set: PolicySet, scopes: readonly Scope[], situation: Situation): Decision {
  const policies: PolicyResult[] = []
  let risk_score = 0
  let violated = false
  let blocked = false
  for (const scope of scopes) {
    for (const compiled of set.by_scope[scope]) {
      const answer = ask(compiled, situation)
      if (typeof answer !== 'object') {
        policies.push(compiled.passed)
        continue
      }
      const result = violation(compiled, answer, situation.now)
      policies.push(result)
      violated = true
      if (result.mode !== 'enforce' || result.waived) continue
      risk_score = Math.max(risk_score, riskOf[result.severity])
      blocked ||= result.severity === 'critical' && scope !== 'task_execution'
    }
  }
  if (scopes.length > 1) policies.sort((a, b) => a.policy_id - b.policy_id)
  const outcome = blocked ? 'block' : violated ? 'warn' : 'allow'
  return { action: blocked ? 'block' : 'allow', blocked, outcome, risk_score, policies }
}

function ask({ check }: CompiledPolicy, situation: Situation): Answer {
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

function violation({ policy }: CompiledPolicy, finding: Finding, now: number): PolicyResult {
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
