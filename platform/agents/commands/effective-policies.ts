// The policies of one agent, for its local engine, with an ETag that changes when they change.
import { createHash } from 'node:crypto'
import { writePolicy } from '@svc/engine'
import { canonical } from '@svc/proof'
import type { EffectivePolicies } from '@svc/schemas'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { manifestsOf } from '../../policies/store/assignments.js'
import { policiesFrom } from '../../policies/store/policies.js'
import { type AgentRules, loadRules } from '../rulebook.js'
import { agentIdOf, agentView } from '../store/agents.js'

export interface PolicyParts extends Resources {
  readonly policy_ttl_seconds: number
}

/** Rejects with NOT_FOUND for an agent that this API key has not registered. */
export async function effectivePoliciesOf(
  { db, clock, policy_ttl_seconds }: PolicyParts,
  scope: Scope,
  key: KeyIdentity,
  agent_key: string,
): Promise<{ body: EffectivePolicies; etag: string }> {
  return withTransaction(db, scope, async (tx) => {
    const [rules] = await loadRules(scope, tx, [agentIdOf(key.first_key_hash, agent_key)])
    if (rules === undefined)
      throw new PlatformError('NOT_FOUND', `this API key has no agent \`${agent_key}\`: register it first`)
    const policies = [...rules.policies.values()].map(writePolicy)
    const manifests = await manifestsOf(scope, tx, rules.agent.agent_id)
    const earlier = await earlierVersions(scope, tx, rules, clock())
    const body = {
      // The local engine uses the risk level in effect, as the platform does.
      agent: { ...agentView(rules.agent), risk_classification: rules.agent.effective_risk_classification },
      policies,
      policies_offered: policies.length,
      manifests,
      earlier,
      ttl_seconds: policy_ttl_seconds,
    }
    const versions = canonical([manifests, earlier.map(({ manifest_id, sha, until }) => [manifest_id, sha, until])])
    const digest = createHash('sha256').update(`${rules.digest} ${versions}`).digest('hex')
    return { body, etag: `"${digest.slice(0, 32)}.${rules.agent.version}"` }
  })
}

/** How long a local engine is given versions that were replaced: as long as it remembers a task. */
const earlierMs = 24 * 3_600_000

/** Replaced versions of manifests pinned to tasks, which tasks that began with them keep. */
async function earlierVersions(scope: Scope, tx: Transaction, { versions }: AgentRules, now: number) {
  const found: NonNullable<EffectivePolicies['earlier']> = []
  for (const { assignment_id, manifest_id, manifest_sha: sha, from_index, until_at: until } of versions) {
    if (until === null || Date.parse(until) < now - earlierMs) continue
    const policies = await policiesFrom(scope, tx, assignment_id, from_index)
    found.push({ manifest_id, sha, until, policies: policies.map(writePolicy) })
  }
  return found
}
