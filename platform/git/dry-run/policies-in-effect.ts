// The policies in effect for the agents of recorded tasks, as a replay takes them.
import type { PolicyInput, ReplayPolicies, ReplayPolicy } from '@svc/engine'
import { canonical } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'

/**
 * The policies of each agent, by its id. Each agent has its own copy of the policies of a manifest: equal ones are one policy of
 * the replay, so that it is compiled once and counted once.
 */
export function policiesInEffect(
  ofAgents: ReadonlyMap<string, readonly PolicyInput[]>,
  isKept: (policy: PolicyInput) => boolean,
): ReplayPolicies {
  const known = new Map<string, ReplayPolicy>()
  const own = new Map<unknown, ReadonlySet<ReplayPolicy>>()
  const keys = new Map<unknown, string>()
  for (const [agent_id, stored] of ofAgents) {
    const texts = stored.filter(isKept).map((policy) => ({ policy, text: contentOf(policy) }))
    for (const { policy, text } of texts)
      if (!known.has(text)) known.set(text, { policy, file: policy.manifest_path, line: null })
    own.set(agent_id, new Set(texts.flatMap(({ text }) => known.get(text) ?? [])))
    keys.set(agent_id, texts.map(({ text }) => text).join('\n'))
  }
  const byPolicy = new Map([...known.values()].map((one) => [one.policy, one]))
  return {
    policies: [...known.values()],
    keyOf: ({ agent_id }) => keys.get(agent_id) ?? '',
    onAgent: ({ policy }, { agent_id }: JsonMap) => {
      const one = byPolicy.get(policy)
      return one !== undefined && own.get(agent_id)?.has(one) ? policy : null
    },
  }
}

/** Both together for each agent. */
export function together(some: ReplayPolicies, others: ReplayPolicies): ReplayPolicies {
  const first = new Set(some.policies.map(({ policy }) => policy))
  return {
    policies: [...some.policies, ...others.policies],
    keyOf: (agent) => JSON.stringify([some.keyOf(agent), others.keyOf(agent)]),
    onAgent: (one, agent) => (first.has(one.policy) ? some : others).onAgent(one, agent),
  }
}

/** What a policy means and where it is from, without what differs between agents. */
function contentOf({
  id: _id,
  version: _version,
  agent_id: _agent,
  manifest_id: _manifest,
  manifest_sha: _sha,
  manifest_assigned_at: _at,
  manifest_assigned_by: _by,
  ...content
}: PolicyInput): string {
  return canonical(content)
}
