// The greatest depth of the conditions of a policy: one limit for files, bodies and stored policies.
import { isDeeperThan, maxCompoundDepth, maxPolicyDepth } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { ParameterError } from '../../check/parameter-error.js'
import { isCombinator } from './compound.js'

/** Rejects parameters nested deeper than the code that handles policies supports. Throws ParameterError. */
export function assertDepth(rule_type: string, params: JsonMap): void {
  if (isDeeperThan(params, maxPolicyDepth) || hasDeepConditions(rule_type, params))
    throw new ParameterError('', depthWords, { subject: '', fault: 'depth' })
}

/** Digits in groups of three; `toLocaleString` would load the locale data at the start, which takes 12 ms. */
const number = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

/** The predicate of a sentence about a policy that is too deep. */
export const depthWords = `must have at most ${number(maxCompoundDepth)} conditions inside each other and ${number(maxPolicyDepth)} levels in all: split it`

function hasDeepConditions(rule_type: string, params: JsonMap): boolean {
  let level: unknown[] = [{ rule_type, params }]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxCompoundDepth) return true
    level = level.flatMap(conditionsOf)
  }
  return false
}

/** The conditions of a compound rule, valid or not; none for any other value. */
function conditionsOf(node: unknown): unknown[] {
  const { rule_type, params } = (node ?? {}) as {
    rule_type?: unknown
    params?: { condition?: unknown; conditions?: unknown } | null
  }
  if (typeof rule_type !== 'string' || !isCombinator(rule_type)) return []
  const { condition, conditions } = params ?? {}
  if (rule_type === 'not') return [condition]
  return Array.isArray(conditions) ? conditions : []
}
