// The semantic diff of two versions of a manifest: what becomes stricter or looser, and for which agents.
import type { Manifest } from '@svc/schemas'
import { diffAgents } from './agents.js'
import { changeOf, pairPolicies } from './policies.js'
import type { DiffAgent, DiffCounts, ManifestDiff, ManifestName, PolicyChange, WaiverChange } from './result.js'
import { diffWaivers } from './waivers.js'

/**
 * Compares two versions of a manifest, and what they mean for the agents that it is assigned to. Null: the file is added or
 * deleted. `stricter` means that no step that violated a policy is allowed now, `looser` the opposite; a change for which neither
 * is certain is `changed`.
 */
export function diffManifests(
  old: Manifest | null,
  next: Manifest | null,
  agents: readonly DiffAgent[] = [],
): ManifestDiff {
  const pairs = pairPolicies(old, next)
  const policies = pairs.flatMap((pair) => changeOf(pair) ?? [])
  const waivers = diffWaivers(old, next, pairs)
  const for_agents = diffAgents(old, next, pairs, agents)
  return {
    old: old && nameOf(old),
    new: next && nameOf(next),
    policies,
    waivers,
    counts: countsOf(policies, waivers),
    agents: for_agents,
    affected_agents: for_agents.filter((agent) => agent.policies.length > 0).map(({ agent_key }) => agent_key),
  }
}

function nameOf({ name, version }: Manifest): ManifestName {
  return { name, version }
}

function countsOf(policies: readonly PolicyChange[], waivers: readonly WaiverChange[]): DiffCounts {
  const all = [...policies, ...waivers]
  const count = (wanted: PolicyChange['change']) => all.filter(({ change }) => change === wanted).length
  return {
    added: count('added'),
    removed: count('removed'),
    stricter: count('stricter'),
    looser: count('looser'),
    changed: count('changed'),
  }
}
