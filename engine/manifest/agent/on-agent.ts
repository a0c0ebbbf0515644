// The policies of a manifest for an agent that is given by its fields.
import type { JsonMap, Manifest } from '@svc/schemas'
import { riskLevelOf } from '../../agent/risk.js'
import { compile, type PolicySet } from '../../policy/compile.js'
import type { PolicyInput } from '../../policy/policy-input.js'
import { materialise, waivedUntil } from './materialise.js'

export interface ManifestOnAgent {
  readonly set: PolicySet
  /** Names of policies of a level above the agent's. */
  readonly skipped: readonly string[]
}

/** The policies of the manifest for the agent, with its waivers; ids count from 1. */
export function onAgent(manifest: Manifest, agent: JsonMap): ManifestOnAgent {
  const risk_classification = riskLevelOf(agent.risk_classification)
  const { policies, skipped } = materialise(manifest, {
    source: 'file',
    path: '',
    sha: '',
    agent: { agent_id: '', risk_classification },
    assigned_at: null,
    assigned_by: null,
  })
  const waived = waivedUntil(manifest, typeof agent.agent_key === 'string' ? agent.agent_key : null)
  const inputs = policies.map((policy, index): PolicyInput => {
    const until = waived.get(policy.name)
    return { ...policy, id: index + 1, version: 1, ...(until !== undefined && { waived_until: until }) }
  })
  return { set: compile(inputs), skipped }
}
