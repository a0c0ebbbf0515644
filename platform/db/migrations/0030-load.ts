// Indexes for what has many rows of one agent, task or action.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const indexes = /* sql */ `
-- The latest states of an agent's engines, which an engine that restarts often has thousands of.
create index engine_intervals_latest on engine_intervals (org_id, agent_id, since desc);
-- What engines alone have reported; each violation of a step is compared with it, and there is seldom any.
create index incident_occurrences_reported on incident_occurrences (org_id, task_id, step, policy_id) where not is_evaluated;
-- What waits for the receiver of an action, in order.
create index deliveries_waiting on deliveries (org_id, action_id, position) where state = 'pending';
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(indexes)
}
