// The compiled policies of agents, cached until the configuration of the organization changes.

import { compile, type PolicyInput, type PolicySet } from '@svc/engine'
import { canonical, policySetDigest } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { effectivePolicies } from '../policies/store/policies.js'
import { rememberPolicySet } from '../policies/store/policy-sets.js'
import { type AgentRow, agentFacts, findAgents } from './store/agents.js'

/** An agent with everything that the evaluation of its steps needs. */
export interface AgentRules {
  readonly agent: AgentRow
  /** The agent as rules see it. */
  readonly facts: JsonMap
  readonly set: PolicySet
  readonly digest: string
  readonly policies: ReadonlyMap<number, PolicyInput>
}

export interface Rulebook {
  /** The rules of these agents at `config_version`; unknown agents are absent. */
  readonly of: (
    scope: Scope,
    tx: Transaction,
    config_version: number,
    agent_ids: readonly string[],
  ) => Promise<ReadonlyMap<string, AgentRules>>
  /** Drops the cached rules of an organization. Called when a transaction that loaded rules may have failed. */
  readonly forget: (org_id: string) => void
}

interface Edition {
  readonly config_version: number
  readonly agents: Map<string, AgentRules>
}

/** Caches at most `limit` agents per organization; `config_version` is read under the lock of the log. */
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

/** Loads and compiles the policies of the agents, and stores each set under its digest. */
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
