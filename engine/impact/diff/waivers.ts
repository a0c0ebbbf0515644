// The waivers of two manifests, by agent and policy.
import type { Manifest } from '@svc/schemas'
import { waivedUntil } from '../../manifest/agent/materialise.js'
import { lastDayOf } from '../../manifest/agent/waiver-days.js'
import type { PolicyPair } from './policies.js'
import type { Effect, MemberChange, WaiverChange } from './result.js'

/** The waivers that differ, for each agent that has one. A waiver of a policy that is added loosens nothing that was in force. */
export function diffWaivers(old: Manifest | null, next: Manifest | null, pairs: readonly PolicyPair[]): WaiverChange[] {
  const keys = new Set([old, next].flatMap((manifest) => manifest?.waivers ?? []).map(({ agent_key }) => agent_key))
  return [...keys].flatMap((agent_key) => {
    const daysOf = waiverDays(old, next, agent_key)
    return pairs.flatMap((pair) => {
      const { path: _, effect, ...days } = daysOf(pair) ?? { path: '', effect: null }
      const policy = pair.next?.name
      if (effect === null || policy === undefined) return []
      return [{ policy, agent_key, ...days, change: pair.old === null ? 'none' : effect }]
    })
  })
}

/** For one agent: the waiver of a policy as a member that differs; null where it does not. */
export function waiverDays(old: Manifest | null, next: Manifest | null, agent_key: string) {
  const [before, after] = [old, next].map((manifest) => manifest && waivedUntil(manifest, agent_key))
  return (pair: PolicyPair): (MemberChange & Pick<WaiverChange, 'old' | 'new'>) | null => {
    const [until, now] = [before?.get(pair.old?.name ?? ''), after?.get(pair.next?.name ?? '')]
    if (until === now) return null
    const days = {
      ...(until !== undefined && { old: lastDayOf(until) }),
      ...(now !== undefined && { new: lastDayOf(now) }),
    }
    return { path: 'waiver', ...days, effect: effectOf(until ?? 0, now ?? 0) }
  }
}

function effectOf(until: number, now: number): Effect {
  return now > until ? 'looser' : 'stricter'
}
