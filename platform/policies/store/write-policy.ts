// Changes of one policy in its table.
import { isoTime, type Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

/** Stores the policy as it is. One that is disabled by hand stays disabled for tasks that keep its version of the manifest. */
export async function updatePolicy(scope: Scope, tx: Transaction, now: number, policy: Policy): Promise<void> {
  await tx.query(
    `update policies set name = $3, rule_type = $4, params = $5, scope = $6, severity = $7, description = $8,
       risk_classification = $9, agent_id = $10, enabled = $11, was_enabled = $11, mode = $12, approval = $13, controls = $14,
       version = $15, overridden = $16, deleted_at = $17, updated_at = $18
     where org_id = $1 and id = $2`,
    [
      scope.org_id,
      policy.id,
      policy.name,
      policy.rule_type,
      JSON.stringify(policy.params),
      policy.scope,
      policy.severity,
      policy.description,
      policy.risk_classification,
      policy.agent_id,
      policy.enabled,
      policy.mode,
      policy.approval == null ? null : JSON.stringify(policy.approval),
      policy.controls,
      policy.version,
      policy.overridden == null ? null : JSON.stringify(policy.overridden),
      policy.deleted_at ?? null,
      isoTime(now),
    ],
  )
}

/** True if the policy is of a version of its manifest that was replaced or removed. */
export async function isReplaced(scope: Scope, tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx.query(
    'select 1 from policies where org_id = $1 and id = $2 and assignment_id is not null and until_index is not null',
    [scope.org_id, id],
  )
  return rows.length > 0
}

/** The id of the agent with this id or this key; null for an agent that the workspace does not have. */
export async function agentNamed(scope: Scope, tx: Transaction, name: string): Promise<string | null> {
  const [row] = await tx.query<{ agent_id: string }>(
    `select agent_id from agents where org_id = $1 and (agent_id = $2 or agent_key = $2)
     order by agent_id = $2 desc, agent_id limit 1`,
    [scope.org_id, name],
  )
  return row?.agent_id ?? null
}
