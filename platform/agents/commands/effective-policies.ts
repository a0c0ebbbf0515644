// What a local engine fetches for one agent: its policies, and a tag that changes when they do.
import type { EffectivePolicies } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../ingest/batch.js'
import { loadRules } from '../rulebook.js'
import type { Platform } from '../../platform.js'
import { agentIdOf, agentView } from '../store/agents.js'
import { manifestsOf } from '../../policies/assignments-store.js'
import { withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

/** Rejects with NOT_FOUND for an agent that this key has not registered. */
export async function effectivePoliciesOf(
  platform: Platform,
  scope: Scope,
  key: KeyIdentity,
  agent_key: string,
): Promise<{ body: EffectivePolicies; etag: string }> {
  return withTransaction(platform.db, scope, async (tx) => {
    const [rules] = await loadRules(scope, tx, [agentIdOf(key.first_key_hash, agent_key)])
    if (rules === undefined) throw new PlatformError('NOT_FOUND', 'no such agent for this key: register it first')
    const policies = [...rules.policies.values()]
    const body = {
      // The engine evaluates with the level that is in effect, as the platform does.
      agent: { ...agentView(rules.agent), risk_classification: rules.agent.effective_risk_classification },
      policies,
      policies_offered: policies.length,
      manifests: await manifestsOf(scope, tx, rules.agent.agent_id),
      ttl_seconds: platform.config.policy_ttl_seconds,
    }
    return { body, etag: `"${rules.digest.slice(0, 32)}.${rules.agent.version}"` }
  })
}
