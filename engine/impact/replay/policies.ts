// The policies that a replay evaluates, from manifests or from any other source.
import type { JsonMap, Manifest } from '@svc/schemas'
import { levelApplies, riskLevelOf } from '../../agent/risk.js'
import { materialise, waivedUntil } from '../../manifest/agent/materialise.js'
import type { PolicyInput } from '../../policy/policy-input.js'

export interface ReplayPolicy {
  readonly policy: PolicyInput
  /** The place at which a person finds the policy; the line is from 1. Null for a policy that is in no file. */
  readonly file: string | null
  readonly line: number | null
}

export interface ReplayPolicies {
  /** For agents of every level. */
  readonly policies: readonly ReplayPolicy[]
  /** Agents with the same key have the same policies and waivers. */
  readonly keyOf: (agent: JsonMap) => string
  /** The policy as it applies to the agent; null when it does not. */
  readonly onAgent: (policy: ReplayPolicy, agent: JsonMap) => PolicyInput | null
}

export interface ReplayManifest {
  readonly manifest: Manifest
  readonly file: string
  /** Line of each policy, in the order of the manifest; empty when unknown. */
  readonly lines: readonly number[]
}

/** The policies of all manifests as one set, with the waivers of each for the agent, as `svc serve` puts them in effect. */
export function policiesOfManifests(manifests: readonly ReplayManifest[]): ReplayPolicies {
  const policies = manifests.flatMap(policiesOf)
  const manifestOf = new Map(policies.map((policy) => [policy.policy, policy.manifest]))
  const keys = new Set(manifests.flatMap(({ manifest }) => manifest.waivers?.map(({ agent_key }) => agent_key) ?? []))
  const waivedFor = (agent: JsonMap) => {
    const { agent_key } = agent
    return typeof agent_key === 'string' && keys.has(agent_key) ? agent_key : null
  }
  return {
    policies,
    keyOf: (agent) => JSON.stringify([riskLevelOf(agent.risk_classification), waivedFor(agent)]),
    onAgent: ({ policy }, agent) => {
      if (!levelApplies(policy.risk_classification, riskLevelOf(agent.risk_classification))) return null
      const manifest = manifestOf.get(policy)
      const until = manifest && waivedUntil(manifest, waivedFor(agent)).get(policy.name)
      return until === undefined ? policy : { ...policy, waived_until: until }
    },
  }
}

/** Policies that are in effect for every agent of the tasks, such as those of one agent of a platform. */
export function samePolicies(policies: readonly PolicyInput[]): ReplayPolicies {
  return forEveryAgent(policies.map((policy) => ({ policy, file: policy.manifest_path, line: null })))
}

export function forEveryAgent(policies: readonly ReplayPolicy[]): ReplayPolicies {
  return { policies, keyOf: () => '', onAgent: ({ policy }) => policy }
}

function policiesOf({ manifest, file, lines }: ReplayManifest) {
  const assignment = { source: 'file', path: file, sha: '', agent: null, assigned_at: null, assigned_by: null }
  return materialise(manifest, assignment).policies.map((policy, index) => ({
    policy: { ...policy, id: index + 1, version: 1 },
    file,
    line: lines[index] ?? null,
    manifest,
  }))
}
