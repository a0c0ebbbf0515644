// The policies in effect for the agents of recorded tasks, as a replay takes them.
import type { PolicyInput } from '@svc/engine'
import type { ReplayPolicies, ReplayPolicy } from '@svc/engine/parts'
import { canonical } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'

/** The policies of many agents. Each has its own copy of the policies of a manifest: equal ones are one policy of the replay. */
export interface PolicyTable {
  readonly policies: readonly ReplayPolicy[]
  /** Adds the policies that the table does not have; their indexes in it. */
  readonly indexesOf: (policies: readonly ReplayPolicy[]) => number[]
}

export function createPolicyTable(): PolicyTable {
  const policies: ReplayPolicy[] = []
  const known = new Map<string, number>()
  const indexOf = (one: ReplayPolicy) => {
    const text = `${one.line ?? ''} ${contentOf(one.policy)}`
    const index = known.get(text) ?? policies.push(one) - 1
    known.set(text, index)
    return index
  }
  return { policies, indexesOf: (some) => some.map(indexOf) }
}

/** A policy that is in effect; its manifest is not at hand, so that its line is unknown. */
export function withoutLine(policy: PolicyInput): ReplayPolicy {
  return { policy, file: policy.manifest_path, line: null }
}

/** The policies of each agent, by its id. */
export function policiesInEffect(
  ofAgents: ReadonlyMap<string, readonly PolicyInput[]>,
  isKept: (policy: PolicyInput) => boolean,
): ReplayPolicies {
  const table = createPolicyTable()
  const own = new Map<unknown, ReadonlySet<number>>()
  for (const [agent_id, stored] of ofAgents)
    own.set(agent_id, new Set(table.indexesOf(stored.filter(isKept).map(withoutLine))))
  const indexes = new Map(table.policies.map(({ policy }, index) => [policy, index]))
  return {
    policies: table.policies,
    keyOf: ({ agent_id }) => [...(own.get(agent_id) ?? [])].join(' '),
    onAgent: ({ policy }, { agent_id }: JsonMap) =>
      own.get(agent_id)?.has(indexes.get(policy) ?? -1) === true ? policy : null,
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

/** The meaning and the source of a policy, without the members that differ between agents. */
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
