// The policies that cause an outcome, and those that make the difference between two.
import type { PolicyResult } from '@svc/schemas'
import { type Decision, stopsStep } from '../../policy/evaluate.js'
import type { Cause, PolicyEffect } from './result.js'
import type { ListedPolicy } from './sets.js'

/** The effect of the violation on a step with that outcome. */
export function effectOf({ policy }: ListedPolicy, result: PolicyResult, outcome: Decision['outcome']): PolicyEffect {
  if (result.waived) return 'waived'
  if (result.mode === 'observe') return 'observed'
  if (!stopsStep(policy, result)) return 'warns'
  return outcome === 'ask' ? 'asks' : 'blocks'
}

/** The policies that the decision blocks or asks for. */
export function causesOf(listed: readonly ListedPolicy[], decision: Decision): Cause[] {
  return violationsOf(listed, decision).filter(({ effect }) => effect === 'blocks' || effect === 'asks')
}

/** The violations that only one of the decisions has, or that have another effect; those of the new set first. */
export function differencesOf(listed: readonly ListedPolicy[], before: Decision, after: Decision): Cause[] {
  const [old, now] = [violationsOf(listed, before), violationsOf(listed, after)]
  const keyOf = ({ name, effect }: Cause) => `${effect} ${name}`
  const without = (some: readonly Cause[], others: readonly Cause[]) => {
    const keys = new Set(others.map(keyOf))
    return some.filter((cause) => !keys.has(keyOf(cause)))
  }
  return [...without(now, old), ...without(old, now)]
}

function violationsOf(listed: readonly ListedPolicy[], { violations, outcome }: Decision): Cause[] {
  return violations.flatMap((result) => {
    const policy = listed[result.policy_id]
    return policy === undefined ? [] : [causeOf(policy, result, outcome)]
  })
}

function causeOf(policy: ListedPolicy, result: PolicyResult, outcome: Decision['outcome']): Cause {
  const { name, severity, violation_details: details } = result
  return {
    name,
    side: policy.side,
    severity,
    effect: effectOf(policy, result, outcome),
    code: details?.code ?? '',
    reason: details?.reason ?? '',
    remedy: details?.remedy ?? null,
    manifest: policy.file,
    line: policy.line,
  }
}
