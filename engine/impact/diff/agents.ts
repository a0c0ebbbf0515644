// The effect of a change of a manifest on one agent, with its risk level and its waivers.
import type { Manifest } from '@svc/schemas'
import { type RiskLevel, riskLevelOf } from '../../agent/risk.js'
import { materialise } from '../../manifest/agent/materialise.js'
import { changeOf, type PolicyPair } from './policies.js'
import { type AgentChange, combined, type DiffAgent, type PolicyChange } from './result.js'
import { waiverDays } from './waivers.js'

type InForce = ReadonlySet<string>

/** The changes for each of the agents. Changes that have no effect on an agent are left out. */
export function diffAgents(
  old: Manifest | null,
  next: Manifest | null,
  pairs: readonly PolicyPair[],
  agents: readonly DiffAgent[],
): AgentChange[] {
  const waived = new Set([old, next].flatMap((manifest) => manifest?.waivers ?? []).map(({ agent_key }) => agent_key))
  const byLevel = new Map<RiskLevel, ForLevel>()
  return agents.map(({ agent_key, name = null, ...agent }) => {
    const risk_classification = riskLevelOf(agent.risk_classification)
    const known = byLevel.get(risk_classification)
    const found = waived.has(agent_key) || !known ? forLevel(old, next, pairs, risk_classification, agent_key) : known
    // Agents without a waiver differ by their level only.
    if (!waived.has(agent_key)) byLevel.set(risk_classification, found)
    return { agent_key, name, risk_classification, ...found }
  })
}

type ForLevel = Omit<AgentChange, 'agent_key' | 'name' | 'risk_classification'>

function forLevel(
  old: Manifest | null,
  next: Manifest | null,
  pairs: readonly PolicyPair[],
  level: RiskLevel,
  agent_key: string,
): ForLevel {
  const [before, after] = [policiesInForce(old, level), policiesInForce(next, level)]
  const daysOf = waiverDays(old, next, agent_key)
  return {
    policies_before: before.size,
    policies_after: after.size,
    ungoverned: before.size > 0 && after.size === 0,
    policies: pairs.flatMap((pair) => forAgent(pair, before, after, daysOf) ?? []),
  }
}

/** The names of the enabled policies that apply to the level of the agent. */
function policiesInForce(manifest: Manifest | null, risk_classification: RiskLevel): InForce {
  if (manifest === null) return new Set()
  const agent = { agent_id: '', risk_classification }
  const none = { source: 'file', path: '', sha: '', assigned_at: null, assigned_by: null }
  const { policies } = materialise(manifest, { ...none, agent })
  return new Set(policies.filter(({ enabled }) => enabled).map(({ name }) => name))
}

function forAgent(
  pair: PolicyPair,
  before: InForce,
  after: InForce,
  daysOf: ReturnType<typeof waiverDays>,
): PolicyChange | null {
  const { old, next } = pair
  const [was, is] = [old !== null && before.has(old.name), next !== null && after.has(next.name)]
  if (!was && !is) return null
  const waiver = daysOf(pair)
  const members = [...(changeOf(pair)?.members ?? []), ...(waiver === null ? [] : [waiver])]
  const name = next?.name ?? old?.name ?? ''
  const names = { name, ...(old !== null && old.name !== name && { old_name: old.name }) }
  if (was !== is) return { ...names, change: is ? 'added' : 'removed', members }
  // The level determines whether a policy is in force, and it is in force before and after.
  const effective = members.filter(({ path }) => path !== 'risk_classification')
  const change = combined(effective.map(({ effect }) => effect))
  return change === 'none' ? null : { ...names, change, members: effective }
}
