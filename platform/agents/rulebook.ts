// The compiled policies of agents, cached until the configuration of the organization changes.

import { compile, type PolicyInput, type PolicySet } from '@svc/engine'
import { canonical, policySetDigest } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { effectivePolicies, policiesFrom } from '../policies/store/policies.js'
import { rememberPolicySet } from '../policies/store/policy-sets.js'
import { type TaskVersion, taskVersions } from '../policies/store/versions.js'
import { type AgentRow, agentFacts, findAgents } from './store/agents.js'

/** An agent with its policies, not compiled. */
export interface AgentPolicies {
  readonly agent: AgentRow
  /** Of the policies. */
  readonly digest: string
  readonly policies: ReadonlyMap<number, PolicyInput>
  /** Versions of its manifests that are pinned to tasks: a task keeps the one that it began with. */
  readonly versions: readonly TaskVersion[]
}

/** An agent with everything that the evaluation of its steps needs. */
export interface AgentRules extends AgentPolicies {
  /** The agent as rules see it. */
  readonly facts: JsonMap
  readonly set: PolicySet
}

export interface Rulebook {
  /** The rules of these agents at `config_version`; unknown agents are absent. */
  readonly of: (
    scope: Scope,
    tx: Transaction,
    config_version: number,
    agent_ids: readonly string[],
  ) => Promise<ReadonlyMap<string, AgentRules>>
  /** The rules of a task whose first entry has this log index; those of its agent unless it keeps earlier versions. */
  readonly ofTask: (scope: Scope, tx: Transaction, rules: AgentRules, first_log_index: number) => Promise<AgentRules>
  /** Drops the cached rules of an organization. Called when a transaction that loaded rules may have failed. */
  readonly forget: (org_id: string) => void
}

interface Edition {
  readonly config_version: number
  readonly agents: Map<string, AgentRules>
  /** Rules with earlier versions, by agent and versions. */
  readonly earlier: Map<string, AgentRules>
}

/** Caches at most `limit` agents per organization; `config_version` is read under the lock of the log. */
export function createRulebook(limit: number): Rulebook {
  const editions = new Map<string, Edition>()
  return {
    of: async (scope, tx, config_version, agent_ids) => {
      const known = editions.get(scope.org_id)
      const fresh = known !== undefined && known.config_version === config_version && known.agents.size < limit
      const edition = fresh ? known : { config_version, agents: new Map(), earlier: new Map() }
      const missing = agent_ids.filter((id) => !edition.agents.has(id))
      for (const rules of await loadRules(scope, tx, missing)) edition.agents.set(rules.agent.agent_id, rules)
      editions.set(scope.org_id, edition)
      return edition.agents
    },
    ofTask: async (scope, tx, rules, first_log_index) => {
      const kept = keptVersions(rules, first_log_index)
      if (kept === null) return rules
      const key = `${rules.agent.agent_id} ${kept.map(({ current, began }) => `${current.assignment_id}:${began?.from_index}`)}`
      const { earlier } = editions.get(scope.org_id) ?? { earlier: new Map<string, AgentRules>() }
      const found = earlier.get(key) ?? (await withVersions(scope, tx, rules, kept))
      if (earlier.size < limit) earlier.set(key, found)
      return found
    },
    forget: (org_id) => editions.delete(org_id),
  }
}

/** Loads and compiles the policies of the agents, and stores each set under its digest. */
export async function loadRules(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<AgentRules[]> {
  const loaded: AgentRules[] = []
  for (const { agent, policies, versions } of await loadPolicies(scope, tx, agent_ids))
    loaded.push({ agent, facts: agentFacts(agent), versions, ...(await compiled(scope, tx, [...policies.values()])) })
  return loaded
}

/** Loads the policies of the agents. Compiling them, which takes 3 ms for each agent, is left out. */
export async function loadPolicies(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<AgentPolicies[]> {
  if (agent_ids.length === 0) return []
  const agents = await findAgents(scope, tx, agent_ids)
  const policies = await effectivePolicies(scope, tx, agents)
  const versions = await taskVersions(scope, tx, agent_ids)
  return agents.map((agent) => {
    const inputs = policies.get(agent.agent_id) ?? []
    const { digest, policies: own } = identified(inputs)
    return { agent, digest, policies: own, versions: versions.filter(({ agent_id }) => agent_id === agent.agent_id) }
  })
}

/** The rules of a task that began at this log index. */
export async function rulesOfTask(
  scope: Scope,
  tx: Transaction,
  rules: AgentRules,
  first_log_index: number,
): Promise<AgentRules> {
  const kept = keptVersions(rules, first_log_index)
  return kept === null ? rules : withVersions(scope, tx, rules, kept)
}

async function compiled(scope: Scope, tx: Transaction, inputs: readonly PolicyInput[]) {
  const { body, ...identity } = identified(inputs)
  await rememberPolicySet(scope, tx, identity.digest, body)
  return { set: compile(inputs), ...identity }
}

function identified(inputs: readonly PolicyInput[]) {
  const body = canonical(inputs)
  return { body, digest: policySetDigest(body), policies: new Map(inputs.map((policy) => [policy.id, policy])) }
}

/** An assignment whose version in force differs from the one that a task began with, which is null when it came later. */
interface KeptVersion {
  readonly current: TaskVersion
  readonly began: TaskVersion | null
}

/** Null for a task that began with the versions in force. */
function keptVersions({ versions }: AgentRules, first_log_index: number): KeptVersion[] | null {
  const kept = versions.flatMap((current): KeptVersion[] => {
    if (current.until_index !== null || current.from_index <= first_log_index) return []
    const began = versions.find(
      ({ assignment_id, from_index, until_index }) =>
        assignment_id === current.assignment_id &&
        from_index <= first_log_index &&
        (until_index === null || until_index > first_log_index),
    )
    // The same content was put on the agent again, because its risk level selects other policies of it.
    return began?.manifest_sha === current.manifest_sha ? [] : [{ current, began: began ?? null }]
  })
  return kept.length === 0 ? null : kept
}

/** The rules with the policies of the versions that the task began with, in the order of their ids. */
async function withVersions(
  scope: Scope,
  tx: Transaction,
  rules: AgentRules,
  kept: readonly KeptVersion[],
): Promise<AgentRules> {
  const replaced = new Set(kept.map(({ current }) => current.manifest_id))
  const inputs = [...rules.policies.values()].filter(({ manifest_id }) => !replaced.has(manifest_id ?? ''))
  for (const { began } of kept)
    if (began !== null) inputs.push(...(await policiesFrom(scope, tx, began.assignment_id, began.from_index)))
  return {
    ...rules,
    ...(await compiled(
      scope,
      tx,
      inputs.sort((a, b) => a.id - b.id),
    )),
  }
}
