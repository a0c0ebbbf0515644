// Attempts of agents during a stop: steps recorded as blocked, and decisions to block whose steps were never recorded.
import type { Stop } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

/** Entries that are read, the latest ones of the stop, and agents that are listed. */
const maxEntries = 50_000
const maxAgents = 100

/**
 * The evaluation of a step that was recorded as blocked names the policy of the stop as one that applied and passed. So does that of
 * an end, which is not an attempt.
 */
const recorded = `select e.agent_id, e.received_at as at from (
    select log_index, received_at, agent_id, step_type from log_entries
    where org_id = $1 and log_index >= (select from_index from span) and log_index < (select until_index from span)
    order by log_index desc limit ${maxEntries}) e
  join log_payloads p on p.org_id = $1 and p.log_index = e.log_index and p.received_at = e.received_at
  where position('{"applied":true,"code":null,"policy_id":' || $3::bigint || ',' in p.body) > 0
    and position('"status":"blocked"' in p.body) > 0 and lower(e.step_type) not in ('task.end', 'task.error', 'end_node', 'error_node')`

/** Each event is one decision of a local engine. */
const unrecorded = `select v.data->>'agent_id' as agent_id, v.at from (
    select at, data from events where org_id = $1 and kind = 'step.unrecorded'
      and log_index >= (select from_index from span) and log_index < (select until_index from span)
    order by log_index desc limit ${maxEntries}) v
  where v.data->>'outcome' in ('block', 'ask') and v.data->'violations' @> jsonb_build_array(jsonb_build_object('policy_id', $3::bigint))`

/** Attempts of the agents of a stop that were blocked, most first. */
export function blockedAttempts(
  { org_id }: Scope,
  tx: Transaction,
  { id, policy_id }: Pick<Stop, 'id' | 'policy_id'>,
): Promise<NonNullable<Stop['blocked_attempts']>> {
  return tx.query(
    `with span as (select s.from_index, coalesce(p.until_index, ${Number.MAX_SAFE_INTEGER}) as until_index
         from stops s join policies p on p.org_id = s.org_id and p.id = s.policy_id where s.org_id = $1 and s.id = $2),
       attempts as (${recorded} union all ${unrecorded})
     select agent_id, count(*)::int as count, ${utc('max(at)', 'last_at')} from attempts
     group by agent_id order by count(*) desc, agent_id limit ${maxAgents}`,
    [org_id, id, policy_id],
  )
}
