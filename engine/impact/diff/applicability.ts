// Tells if a condition is applicable only to steps to which one of its neighbours is.
import type { JsonMap } from '@svc/schemas'
import type { Condition } from '../../rules/compound/condition.js'
import { targetKeys } from '../../rules/form/params.js'
import { ruleNamed } from '../../rules/registry.js'
import { sameJson } from '../../rules/values/members.js'

/**
 * True when the condition can always be evaluated, and one of the others is applicable to each step that it is applicable to.
 * Rules that read only the history, and rules about gates, are applicable to every step of their target.
 */
export function isImplied(condition: Condition, others: readonly Condition[]): boolean {
  const target = targetOf(condition)
  if (target === null) return false
  return others.some((other) => {
    const wider = targetOf(other)
    return wider !== null && Object.keys(wider).every((key) => sameJson(wider[key], target[key]))
  })
}

/** The target of a rule that is applicable to all of it and that no field can make impossible to evaluate; else null. */
function targetOf({ rule_type, params = {} }: Condition): JsonMap | null {
  const { readsHistoryOnly, alwaysAnswers } = ruleNamed(rule_type) ?? {}
  const isCertain = readsHistoryOnly === true || alwaysAnswers === true
  if (!isCertain || params.target_property_filter !== undefined) return null
  const { target_verb, target_verbs } = params
  // A step with either of them is a target, so that one alone is the narrower target.
  if (target_verb !== undefined && target_verbs !== undefined) return null
  return Object.fromEntries(targetKeys.flatMap((key) => (params[key] === undefined ? [] : [[key, params[key]]])))
}
