// The policies of agents, for their local engines, each with an ETag that changes when they change.
import { createHash } from 'node:crypto'
import { writePolicy } from '@svc/engine/parts'
import { canonical } from '@svc/proof'
import type { EffectivePolicies } from '@svc/schemas'
import { type Resources, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { manifestsOf } from '../../policies/store/assignments.js'
import { policiesFrom } from '../../policies/store/policies.js'
import { type AgentPolicies, loadPolicies } from '../rulebook.js'
import { agentView } from '../store/agents.js'
import { configVersion, type PolicyMark, policyMarks } from '../store/policy-marks.js'

export interface PolicyParts extends Resources {
  readonly policy_ttl_seconds: number
}

export interface EffectiveAnswer {
  readonly body: EffectivePolicies
  readonly etag: string
}

/** The policies in effect for one agent, with the mark that changes with them. */
export interface InEffect extends EffectiveAnswer {
  readonly mark: PolicyMark
}

export interface Effective {
  readonly config_version: number
  /** By agent; unknown agents are absent. */
  readonly agents: ReadonlyMap<string, InEffect>
}

/** The policies in effect for these agents, in one snapshot; marks, which only waiting engines need, are empty without `marked`. */
export async function effectivePoliciesOf(
  { db, clock, policy_ttl_seconds }: PolicyParts,
  scope: Scope,
  agent_ids: readonly string[],
  marked = true,
): Promise<Effective> {
  return withSnapshot(db, scope, async (tx) => {
    const config_version = await configVersion(scope, tx)
    const marks = await policyMarks(scope, tx, marked ? agent_ids : [])
    const manifests = await manifestsOf(scope, tx, agent_ids)
    const agents = new Map<string, InEffect>()
    for (const rules of await loadPolicies(scope, tx, agent_ids)) {
      const { agent_id } = rules.agent
      const earlier = await earlierVersions(scope, tx, rules, clock())
      const own = manifests.get(agent_id) ?? []
      agents.set(agent_id, { ...answerOf(rules, own, earlier, policy_ttl_seconds), mark: marks.get(agent_id) ?? '' })
    }
    return { config_version, agents }
  })
}

function answerOf(
  { agent, digest, policies: inputs }: AgentPolicies,
  manifests: EffectivePolicies['manifests'],
  earlier: NonNullable<EffectivePolicies['earlier']>,
  ttl_seconds: number,
): EffectiveAnswer {
  const policies = [...inputs.values()].map(writePolicy)
  const body = {
    // The local engine uses the risk level in effect, as the platform does.
    agent: { ...agentView(agent), risk_classification: agent.effective_risk_classification },
    policies,
    policies_offered: policies.length,
    manifests,
    earlier,
    ttl_seconds,
  }
  const versions = canonical([manifests, earlier.map(({ manifest_id, sha, until }) => [manifest_id, sha, until])])
  const tag = createHash('sha256').update(`${digest} ${versions}`).digest('hex')
  return { body, etag: `"${tag.slice(0, 32)}.${agent.version}"` }
}

/** The time in which a local engine is given versions that were replaced: as long as it remembers a task. */
const earlierMs = 24 * 3_600_000

/** Replaced versions of manifests pinned to tasks, which tasks that began with them keep. */
async function earlierVersions(scope: Scope, tx: Transaction, { versions }: AgentPolicies, now: number) {
  const found: NonNullable<EffectivePolicies['earlier']> = []
  for (const { assignment_id, manifest_id, manifest_sha: sha, from_index, until_at: until } of versions) {
    if (until === null || Date.parse(until) < now - earlierMs) continue
    const policies = await policiesFrom(scope, tx, assignment_id, from_index)
    found.push({ manifest_id, sha, until, policies: policies.map(writePolicy) })
  }
  return found
}
