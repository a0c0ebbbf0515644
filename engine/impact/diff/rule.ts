// The rules of two policies compared: parameters, and the conditions of compound rules.
import type { JsonMap } from '@svc/schemas'
import { isCombinator } from '../../rules/compound/compound.js'
import type { Condition } from '../../rules/compound/condition.js'
import { ruleNamed } from '../../rules/registry.js'
import { sameJson } from '../../rules/values/members.js'
import { isImplied } from './applicability.js'
import { diffParams, valuesOf } from './params.js'
import { type Effect, inverted, type MemberChange } from './result.js'
import { keyOf } from './selection.js'

/** The position of a condition in the tree of its policy. */
interface Where {
  /** Above it are only `all_of`: the policy is violated when the condition is. */
  readonly plain: boolean
  /** An odd number of `not` is above it. */
  readonly negated: boolean
}

interface Placed {
  readonly node: Condition
  /** Path of the node below the policy; empty for the policy itself. */
  readonly path: string
}

/** The differences between two rules with their parameters. Paths begin with `params`, or are `rule_type`. */
export function diffRule(old: Condition, next: Condition): MemberChange[] {
  return diffNode({ node: old, path: '' }, { node: next, path: '' }, { plain: true, negated: false })
}

function diffNode(old: Placed, next: Placed, where: Where): MemberChange[] {
  if (sameCondition(old.node, next.node)) return []
  const [before, after] = [withoutWrapping(old), withoutWrapping(next)]
  const group = [before, after].map(({ node }) => node.rule_type).find(isGroup)
  const isOther = before.node.rule_type !== after.node.rule_type
  if (group !== undefined && [before, after].every(({ node }) => node.rule_type === group || !isGroup(node.rule_type)))
    return diffGroups(group, membersOf(group, before), membersOf(group, after), where)
  if (isOther) return replaced(before, after)
  if (before.node.rule_type === 'not') {
    const inner = { plain: false, negated: !where.negated }
    const [[child], [other]] = [childrenOf(before), childrenOf(after)]
    return child === undefined || other === undefined ? [] : diffNode(child, other, inner)
  }
  return diffLeaf(before, after, where)
}

function sameCondition(old: Condition, next: Condition): boolean {
  return old.rule_type === next.rule_type && sameJson(old.params ?? {}, next.params ?? {})
}

function isGroup(rule_type: string): rule_type is 'all_of' | 'any_of' {
  return rule_type === 'all_of' || rule_type === 'any_of'
}

/** An `all_of` or `any_of` with one condition means that condition. */
function withoutWrapping(placed: Placed): Placed {
  let inner = placed
  for (;;) {
    const [only, ...others] = isGroup(inner.node.rule_type) ? childrenOf(inner) : []
    if (only === undefined || others.length > 0) return inner
    inner = only
  }
}

/** The conditions of the group; another condition is a group of one. */
function membersOf(group: string, placed: Placed): Placed[] {
  return placed.node.rule_type === group ? childrenOf(placed) : [placed]
}

function childrenOf({ node, path }: Placed): Placed[] {
  const { condition, conditions } = node.params ?? {}
  const at = (name: string) => [...(path === '' ? [] : [path]), 'params', name].join('.')
  if (node.rule_type === 'not') return [{ node: condition as Condition, path: at('condition') }]
  return (conditions as Condition[]).map((child, index) => ({ node: child, path: at(`conditions.${index}`) }))
}

/** Equal conditions are left out, conditions of one rule are compared in their order, the others are added and removed. */
function diffGroups(
  group: 'all_of' | 'any_of',
  old: readonly Placed[],
  next: readonly Placed[],
  where: Where,
): MemberChange[] {
  const { kept, removed, added } = withoutEqual(old, next)
  const within = { ...where, plain: where.plain && group === 'all_of' }
  const changes: MemberChange[] = []
  for (const before of [...removed]) {
    const after = added.find(({ node }) => node.rule_type === before.node.rule_type)
    if (after === undefined) continue
    removed.splice(removed.indexOf(before), 1)
    added.splice(added.indexOf(after), 1)
    changes.push(...diffNode(before, after, within))
  }
  const effectOf = (condition: Condition) => effectOfAdding(group, condition, kept, where)
  for (const { node, path } of removed) changes.push({ path, old: node, effect: inverted(effectOf(node)) })
  for (const { node, path } of added) changes.push({ path, new: node, effect: effectOf(node) })
  return changes
}

function withoutEqual(old: readonly Placed[], next: readonly Placed[]) {
  const unmatched = new Map<string, Placed[]>()
  for (const one of next) {
    const bucket = unmatched.get(bucketOf(one))
    if (bucket === undefined) unmatched.set(bucketOf(one), [one])
    else bucket.push(one)
  }
  const kept: Condition[] = []
  const equal = new Set<Placed>()
  const removed = old.filter((one) => {
    const bucket = unmatched.get(bucketOf(one)) ?? []
    const index = bucket.findIndex(({ node }) => sameCondition(node, one.node))
    if (index < 0) return true
    for (const same of bucket.splice(index, 1)) equal.add(same)
    kept.push(one.node)
    return false
  })
  return { kept, removed, added: next.filter((one) => !equal.has(one)) }
}

/** Equal for equal conditions. A text of a whole tree at each of its levels would take quadratic time. */
function bucketOf({ node }: Placed): string {
  return isCombinator(node.rule_type) ? node.rule_type : keyOf([node.rule_type, node.params ?? {}])
}

/**
 * A condition more is stricter in `all_of` and looser in `any_of`, as long as it does not make a group applicable whose other
 * conditions are not: such a group violates nothing, and a violated `any_of` needs one applicable condition.
 */
function effectOfAdding(
  group: 'all_of' | 'any_of',
  condition: Condition,
  kept: readonly Condition[],
  { plain, negated }: Where,
): Effect {
  if (plain && group === 'all_of') return 'stricter'
  if (!isImplied(condition, kept)) return 'changed'
  const effect = group === 'all_of' ? 'stricter' : 'looser'
  return negated ? inverted(effect) : effect
}

function replaced({ node: old, path: old_path }: Placed, { node: next, path }: Placed): MemberChange[] {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const effect = 'changed' as const
  if (old_path !== path) return [{ path, old, new: next, effect }]
  const rule: MemberChange = { path: at('rule_type'), old: old.rule_type, new: next.rule_type, effect }
  if (sameJson(old.params ?? {}, next.params ?? {})) return [rule]
  return [
    rule,
    { path: at('params'), ...valuesOf(old as unknown as JsonMap, next as unknown as JsonMap, 'params'), effect },
  ]
}

function diffLeaf({ node: old }: Placed, { node: next, path }: Placed, { plain, negated }: Where): MemberChange[] {
  const rule = isCombinator(old.rule_type) ? undefined : ruleNamed(old.rule_type)
  if (rule === undefined) return []
  return diffParams(rule, old.params ?? {}, next.params ?? {}).map(({ alone, path: name, effect, ...values }) => ({
    path: path === '' ? `params.${name}` : `${path}.params.${name}`,
    ...values,
    effect: alone && !plain ? 'changed' : negated ? inverted(effect) : effect,
  }))
}
