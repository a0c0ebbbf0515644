// The risk levels that were in effect for agents, from the events of their registrations and changes, which no retention deletes.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

/** An agent got another level in effect; `at` is ms since 1970. */
export interface LevelChange {
  readonly agent_id: string
  readonly log_index: number
  readonly level: string
  readonly at: number
}

/** The next changes after one of them, in order of agent and log index below `size`. */
export function levelChangesAfter(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
  after: Pick<LevelChange, 'agent_id' | 'log_index'>,
  size: number,
  limit: number,
): Promise<LevelChange[]> {
  return tx.query<LevelChange>(
    `select agent_id, log_index, level, (extract(epoch from at) * 1000)::float8 as at from (
       select subject_id as agent_id, log_index, at, data ->> 'effective_risk_classification' as level,
         lag(data ->> 'effective_risk_classification') over (partition by subject_id order by log_index) as known
       from events
       where org_id = $1 and subject_id = any($2::text[]) and log_index < $5
         and kind = any('{agent.registered,agent.updated,agent.risk_confirmed}')) e
     where level is distinct from known and level is not null and (agent_id, log_index) > ($3, $4)
     order by agent_id, log_index limit $6`,
    [scope.org_id, agent_ids, after.agent_id, after.log_index, size, limit],
  )
}
