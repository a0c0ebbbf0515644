// Which policies judge an agent's steps: compiled once per agent and kept until something in the organization that
// could change them has changed.

import { compile, type PolicyInput, type PolicySet } from '@svc/engine'
import { canonical, policySetDigest } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { effectivePolicies } from '../policies/policies-store.js'
import { rememberPolicySet } from '../policies/policy-sets-store.js'
import { type AgentRow, agentFacts, findAgents } from './store/agents.js'

/** An agent with everything that judging one of its steps needs. */
export interface AgentRules {
  readonly agent: AgentRow
  /** The agent as rules see it. */
  readonly facts: JsonMap
  readonly set: PolicySet
  readonly digest: string
  readonly policies: ReadonlyMap<number, PolicyInput>
}

export interface Rulebook {
  /** Rules of these agents as they are at `config_version`; agents that do not exist are absent. */
  readonly of: (
    scope: Scope,
    tx: Transaction,
    config_version: number,
    agent_ids: readonly string[],
  ) => Promise<ReadonlyMap<string, AgentRules>>
  /** Called when the transaction that loaded rules may not have been committed. */
  readonly forget: (org_id: string) => void
}

interface Edition {
  readonly config_version: number
  readonly agents: Map<string, AgentRules>
}

/** Keeps at most `limit` agents of an organization; `config_version` is read under the log's lock, so it cannot lie. */
export function createRulebook(limit: number): Rulebook {
  const editions = new Map<string, Edition>()
  return {
    of: async (scope, tx, config_version, agent_ids) => {
      const known = editions.get(scope.org_id)
      const fresh = known !== undefined && known.config_version === config_version && known.agents.size < limit
      const edition = fresh ? known : { config_version, agents: new Map() }
      const missing = agent_ids.filter((id) => !edition.agents.has(id))
      for (const rules of await loadRules(scope, tx, missing)) edition.agents.set(rules.agent.agent_id, rules)
      editions.set(scope.org_id, edition)
      return edition.agents
    },
    forget: (org_id) => editions.delete(org_id),
  }
}

/** Reads and compiles what applies to the agents, and sees to it that each set is stored under its digest. */
export async function loadRules(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<AgentRules[]> {
  if (agent_ids.length === 0) return []
  const agents = await findAgents(scope, tx, agent_ids)
  const policies = await effectivePolicies(scope, tx, agents)
  const loaded: AgentRules[] = []
  for (const agent of agents) {
    const inputs = policies.get(agent.agent_id) ?? []
    const body = canonical(inputs)
    const digest = policySetDigest(body)
    await rememberPolicySet(scope, tx, digest, body)
    const byId = new Map(inputs.map((policy) => [policy.id, policy]))
    loaded.push({ agent, facts: agentFacts(agent), set: compile(inputs), digest, policies: byId })
  }
  return loaded
}
