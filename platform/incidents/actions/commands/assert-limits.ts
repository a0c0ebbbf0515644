// An action that is limited to an agent or a policy that does not exist would never send anything.
import { quotePath } from '@svc/engine/parts'
import type { Action } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { type FieldError, invalid } from '../../../errors.js'
import { agentsNamed, policyIdsKnown } from '../store/limits.js'

type Limits = Partial<Pick<Action, 'agent_ids' | 'policy_ids'>>

/** Throws INVALID naming each agent and each policy that the workspace does not have. */
export async function assertLimits(scope: Scope, tx: Transaction, { agent_ids, policy_ids }: Limits): Promise<void> {
  const errors = [
    ...(await unknownAgents(scope, tx, agent_ids ?? [])),
    ...(await unknownPolicies(scope, tx, policy_ids ?? [])),
  ]
  if (errors.length > 0) throw invalid(errors)
}

async function unknownAgents(scope: Scope, tx: Transaction, ids: readonly string[]): Promise<FieldError[]> {
  const known = ids.length === 0 ? [] : await agentsNamed(scope, tx, ids)
  return ids.flatMap((id) => {
    if (known.some(({ agent_id }) => agent_id === id)) return []
    const keyed = known.find(({ agent_key }) => agent_key === id)
    const hint =
      keyed === undefined ? 'GET /api/v1/agents lists the agents' : `it is the key of the agent \`${keyed.agent_id}\``
    return [{ path: 'agent_ids', message: `no agent has the id ${quotePath(id)}: ${hint}` }]
  })
}

async function unknownPolicies(scope: Scope, tx: Transaction, ids: readonly number[]): Promise<FieldError[]> {
  const known = ids.length === 0 ? new Set<number>() : await policyIdsKnown(scope, tx, ids)
  const unknown = ids.filter((id) => !known.has(id))
  return unknown.map((id) => ({
    path: 'policy_ids',
    message: `no policy has the id \`${id}\`: GET /api/v1/policies lists the policies`,
  }))
}
