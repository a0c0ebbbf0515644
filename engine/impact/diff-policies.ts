// The policies of two manifests, matched by name, and by content where a name changed.
import type { Manifest } from '@svc/schemas'
import { diffPolicy, effectOn, type WrittenPolicy } from './diff-policy.js'
import type { MemberChange, PolicyChange } from './diff-result.js'
import { keyOf } from './diff-selection.js'

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
  return [...pairs, ...[...gone.values()].flat().map((policy) => pairOf(policy, null))]
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
