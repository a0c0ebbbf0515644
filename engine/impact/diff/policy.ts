// Two versions of one policy compared member by member.
import type { JsonMap, Manifest } from '@svc/schemas'
import { byDefault, type Direction } from '../../rules/form/stricter.js'
import { sameJson } from '../../rules/values/members.js'
import { diffMembers, valuesOf } from './params.js'
import { combined, type Effect, type MemberChange } from './result.js'
import { diffRule } from './rule.js'

export type WrittenPolicy = Manifest['policies'][number]

/** Members whose values are ordered, the loosest value first. */
const ordered: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  severity: [['low'], ['medium'], ['high'], ['critical']],
  mode: [['observe'], ['enforce', undefined]],
  enabled: [[false], [true, undefined]],
  // Every agent has the level minimal at least, so that a policy of that level applies to all.
  risk_classification: [['unacceptable'], ['high'], ['limited'], ['minimal', 'unclassified', null, undefined]],
}

const ruleMembers = ['rule_type', 'params']

/** The members that differ, those without effect included. */
export function diffPolicy(old: WrittenPolicy, next: WrittenPolicy): MemberChange[] {
  const [before, after] = [old as unknown as JsonMap, next as unknown as JsonMap]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const others = names
    .filter((name) => ![...ruleMembers, 'name', 'approval'].includes(name) && !sameJson(before[name], after[name]))
    .map((path) => ({
      path,
      ...valuesOf(before, after, path),
      effect: effectOfMember(path, before[path], after[path]),
    }))
  const isOtherScope = old.scope !== next.scope
  // The same rule at another scope checks other things.
  const rule = diffRule(old, next).map((change) => (isOtherScope ? { ...change, effect: 'changed' as const } : change))
  return [...rule, ...others, ...diffApproval(old, next)]
}

/** The effect of all differing members together: a disabled policy violates nothing. */
export function effectOn(old: WrittenPolicy, next: WrittenPolicy, members: readonly MemberChange[]): Effect {
  const [before, after] = [old.enabled !== false, next.enabled !== false]
  if (before !== after) return after ? 'stricter' : 'looser'
  return before ? combined(members.map(({ effect }) => effect)) : 'none'
}

function effectOfMember(name: string, old: unknown, next: unknown): Effect {
  if (name === 'scope') return 'changed'
  const ranks = Object.hasOwn(ordered, name) ? ordered[name] : undefined
  if (ranks === undefined) return 'none'
  const rankOf = (value: unknown) => ranks.findIndex((values) => values.includes(value))
  const difference = rankOf(next) - rankOf(old)
  if (difference === 0) return 'none'
  return difference > 0 ? 'stricter' : 'looser'
}

const approvalDirections: Readonly<Record<string, Direction>> = {
  check_type: 'none',
  binds: 'none',
  max_age_seconds: 'lower',
  uses: { stricter: 'lower', absent: ({ binds }) => (binds === undefined ? byDefault(1) : 'other') },
}

/** A policy with an approval asks, where one without blocks. */
function diffApproval({ approval: old }: WrittenPolicy, { approval: next }: WrittenPolicy): MemberChange[] {
  if (old == null && next == null) return []
  if (old == null) return [{ path: 'approval', new: next, effect: 'looser' }]
  if (next == null) return [{ path: 'approval', old, effect: 'stricter' }]
  return diffMembers(approvalDirections, old, next).map(({ alone: _, path, ...change }) => ({
    path: `approval.${path}`,
    ...change,
  }))
}
