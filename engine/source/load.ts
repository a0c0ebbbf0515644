// From versions of manifests to policies in effect.
import { materialise, waivedUntil } from '../manifest/agent/materialise.js'
import { compileValid } from '../policy/compile.js'
import type { PolicyInput } from '../policy/policy-input.js'
import type { LoadedPolicies, ManifestInEffect } from './source.js'
import { firstState } from './state.js'
import type { Remarks, Version } from './versions.js'

/** The valid policies of all manifests, with the waivers of the agent; `remarks` are reported beside the rejected policies. */
export function loadVersions(
  source: string,
  versions: readonly Version[],
  remarks: Remarks,
  agent_key: string | null,
  now: number,
): LoadedPolicies {
  const { policies, manifests } = numbered(versions, agent_key)
  const set = compileValid(policies)
  const unreadable = versions.flatMap(({ rejected }) => rejected.policies)
  const dropped = [...unreadable, ...remarks.dropped, ...set.dropped]
  const ignored = [...versions.flatMap(({ rejected }) => rejected.others), ...remarks.ignored]
  const offered = set.count + dropped.length
  return {
    set,
    offered,
    dropped,
    outdated: remarks.outdated,
    ignored,
    warnings: versions.flatMap(({ warnings }) => warnings),
    load_state: firstState(offered, set.count),
    manifests,
    earlier: [],
    source,
    agent: null,
    stale: false,
    loaded_at: now,
    last_fetch_at: now,
    last_fetch_succeeded: true,
    last_fetch_problem: null,
    expires_at: null,
  }
}

/** The valid policies in order, with ids from 1 and the waivers of the agent. */
function numbered(versions: readonly Version[], agent_key: string | null) {
  const policies: PolicyInput[] = []
  const manifests: ManifestInEffect[] = []
  for (const { file, value } of versions) {
    if (value === null) continue
    const { source, path, sha } = file
    const made = materialise(value, { source, path, sha, agent: null, assigned_at: null, assigned_by: null })
    const waived = waivedUntil(value, agent_key)
    for (const policy of made.policies) {
      const until = waived.get(policy.name)
      const id = policies.length + 1
      policies.push({ ...policy, id, version: 1, ...(until !== undefined && { waived_until: until }) })
    }
    manifests.push({ manifest_id: made.manifest_id, name: value.name, path, sha, pin: null })
  }
  return { policies, manifests }
}
