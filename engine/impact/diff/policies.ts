// The policies of two manifests, matched by name, and by content where a name changed.
import type { Manifest } from '@svc/schemas'
import { diffPolicy, effectOn, type WrittenPolicy } from './policy.js'
import type { MemberChange, PolicyChange } from './result.js'
import { keyOf } from './selection.js'

/** A policy in the old manifest and in the new one; null where it is not. */
export interface PolicyPair {
  readonly old: WrittenPolicy | null
  readonly next: WrittenPolicy | null
  /** Empty for a policy that is added or removed. */
  readonly members: readonly MemberChange[]
}

/** In the order of the new manifest; the removed policies last. Equal policies are included. */
export function pairPolicies(old: Manifest | null, next: Manifest | null): PolicyPair[] {
  const before = new Map((old?.policies ?? []).map((policy) => [policy.name, policy]))
  const after = new Set((next?.policies ?? []).map(({ name }) => name))
  const gone = new Map<string, WrittenPolicy[]>()
  for (const policy of before.values())
    if (!after.has(policy.name)) gone.set(contentOf(policy), [...(gone.get(contentOf(policy)) ?? []), policy])
  const pairs = (next?.policies ?? []).map((policy) =>
    pairOf(before.get(policy.name) ?? gone.get(contentOf(policy))?.shift() ?? null, policy),
  )
  const left = [...gone.values()].flat()
  const renamed = withTightened(pairs, left)
  return [...renamed, ...left.map((policy) => pairOf(policy, null))]
}

/** Comparisons of policies that are gone with policies that are new: a manifest in which every name changed would take seconds. */
const maxComparisons = 10_000

/** Takes an added policy for one of `left`, which it removes, where it is the same rule and stricter: renamed and tightened. */
function withTightened(pairs: readonly PolicyPair[], left: WrittenPolicy[]): PolicyPair[] {
  let comparisons = 0
  return pairs.map((pair) => {
    if (pair.old !== null || pair.next === null || left.length === 0) return pair
    const { next } = pair
    const at = left.findIndex((old) => {
      if (old.rule_type !== next.rule_type || old.scope !== next.scope || ++comparisons > maxComparisons) return false
      return effectOn(old, next, diffPolicy(old, next)) === 'stricter'
    })
    const [old] = at < 0 ? [] : left.splice(at, 1)
    return old === undefined ? pair : pairOf(old, next)
  })
}

/** The change of a pair; null for equal policies. */
export function changeOf({ old, next, members }: PolicyPair): PolicyChange | null {
  if (old === null) return next && { name: next.name, change: 'added', members }
  if (next === null) return { name: old.name, change: 'removed', members }
  const isRenamed = old.name !== next.name
  if (members.length === 0 && !isRenamed) return null
  const change = effectOn(old, next, members)
  return { name: next.name, ...(isRenamed && { old_name: old.name }), change, members }
}

/** Policies with equal rules and parameters are one policy under two names. */
function contentOf({ rule_type, params = {}, scope }: WrittenPolicy): string {
  return keyOf([rule_type, params, scope])
}

function pairOf(old: WrittenPolicy | null, next: WrittenPolicy | null): PolicyPair {
  return { old, next, members: old === null || next === null ? [] : diffPolicy(old, next) }
}
