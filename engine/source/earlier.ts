// Replaced versions of manifests with `pin: task`, which running tasks keep (docs/design/engine.md §6).
import type { EffectivePolicies } from '@svc/schemas'
import { readPolicy } from '../policy/policy-input.js'
import type { EarlierVersion, LoadedPolicies } from './source.js'

/** The time for which a version is kept: no idle task is kept longer (docs/design/engine.md §7). */
const maxAgeMs = 24 * 3600 * 1000
/** Versions that the platform does not send; the newest are kept. */
const maxOwn = 100

/** The replaced versions that the platform sends, and those that this engine knows from the policies in effect before. */
export function earlierVersions(before: LoadedPolicies, body: EffectivePolicies, now: number): EarlierVersion[] {
  const pinned = new Map(body.manifests.map(({ manifest_id, sha, pin }) => [manifest_id, pin === 'task' ? sha : null]))
  const sent = (body.earlier ?? []).map((version) => ({
    ...version,
    until: Date.parse(version.until),
    policies: version.policies.map(readPolicy),
  }))
  const known = new Set(sent.map(keyOf))
  const own = [...replacedNow(before, now), ...before.earlier].filter((version) => {
    const sha = pinned.get(version.manifest_id) ?? version.sha
    const isNew = sha !== version.sha && now - version.until < maxAgeMs && !known.has(keyOf(version))
    if (isNew) known.add(keyOf(version))
    return isNew
  })
  return [...sent, ...own.slice(0, maxOwn)]
}

/** The versions in effect before, as if all of them were replaced now. */
function replacedNow({ manifests, set }: LoadedPolicies, until: number): EarlierVersion[] {
  return manifests.map(({ manifest_id, sha }) => {
    const policies = set.policies.flatMap(({ policy }) => (policy.manifest_id === manifest_id ? [policy] : []))
    return { manifest_id, sha, until, policies }
  })
}

function keyOf({ manifest_id, sha }: EarlierVersion): string {
  return `${manifest_id} ${sha}`
}
