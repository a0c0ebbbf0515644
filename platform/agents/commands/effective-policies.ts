// The policies of one agent, for its local engine, with an ETag that changes when they change.
import { writePolicy } from '@svc/engine'
import type { EffectivePolicies } from '@svc/schemas'
import { type Database, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { manifestsOf } from '../../policies/store/assignments.js'
import { loadRules } from '../rulebook.js'
import { agentIdOf, agentView } from '../store/agents.js'

export interface PolicyParts {
  readonly db: Database
  readonly policy_ttl_seconds: number
}

/** Rejects with NOT_FOUND for an agent that this API key has not registered. */
export async function effectivePoliciesOf(
  { db, policy_ttl_seconds }: PolicyParts,
  scope: Scope,
  key: KeyIdentity,
  agent_key: string,
): Promise<{ body: EffectivePolicies; etag: string }> {
  return withTransaction(db, scope, async (tx) => {
    const [rules] = await loadRules(scope, tx, [agentIdOf(key.first_key_hash, agent_key)])
    if (rules === undefined)
      throw new PlatformError('NOT_FOUND', `this API key has no agent \`${agent_key}\`: register it first`)
    const policies = [...rules.policies.values()].map(writePolicy)
    const body = {
      // The local engine uses the risk level in effect, as the platform does.
      agent: { ...agentView(rules.agent), risk_classification: rules.agent.effective_risk_classification },
      policies,
      policies_offered: policies.length,
      manifests: await manifestsOf(scope, tx, rules.agent.agent_id),
      ttl_seconds: policy_ttl_seconds,
    }
    return { body, etag: `"${rules.digest.slice(0, 32)}.${rules.agent.version}"` }
  })
}
