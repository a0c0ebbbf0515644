// The agents and policies that the limits of an action name.
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'

interface NamedAgent {
  readonly agent_id: string
  readonly agent_key: string
}

/** The agents that have one of these texts as their id or as their key. */
export function agentsNamed(scope: Scope, tx: Transaction, names: readonly string[]): Promise<NamedAgent[]> {
  return tx.query<NamedAgent>(
    `select agent_id, agent_key from agents
     where org_id = $1 and (agent_id = any($2::text[]) or agent_key = any($2::text[])) order by agent_id`,
    [scope.org_id, names],
  )
}

/** Those of the ids that the workspace has, also of policies that are deleted: their incidents still change. */
export async function policyIdsKnown(scope: Scope, tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx.query<{ id: number }>('select id from policies where org_id = $1 and id = any($2::bigint[])', [
    scope.org_id,
    ids,
  ])
  return new Set(rows.map(({ id }) => Number(id)))
}
