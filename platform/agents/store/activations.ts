// When agents were registered, deactivated and reactivated.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

/** Times are ms since 1970. */
export interface AgentState {
  readonly agent_id: string
  readonly created_at: number
  /** Now. */
  readonly active: boolean
}

export function agentStates(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<AgentState[]> {
  return tx.query<AgentState>(
    `select agent_id, (extract(epoch from created_at) * 1000)::float8 as created_at, active from agents
     where org_id = $1 and agent_id = any($2::text[]) order by agent_id`,
    [scope.org_id, agent_ids],
  )
}

export interface Activation {
  readonly agent_id: string
  readonly log_index: number
  readonly kind: 'agent.deactivated' | 'agent.reactivated'
  readonly at: number
}

/** The next events after one of them, of all agents of the workspace, in order of kind and log index. */
export function activationsAfter(
  scope: Scope,
  tx: Transaction,
  after: { readonly kind: string; readonly log_index: number },
  limit: number,
): Promise<Activation[]> {
  return tx.query<Activation>(
    `select subject_id as agent_id, log_index, kind, (extract(epoch from at) * 1000)::float8 as at from events
     where org_id = $1 and kind = any('{agent.deactivated,agent.reactivated}') and (kind, log_index) > ($2, $3)
     order by kind, log_index limit $4`,
    [scope.org_id, after.kind, after.log_index, limit],
  )
}
