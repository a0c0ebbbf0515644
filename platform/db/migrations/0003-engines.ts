// The states of local engines over time.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table engine_intervals (
  org_id text not null,
  agent_id text not null,
  instance_id text not null,
  since timestamptz(3) not null,
  load_state text not null
    check (load_state in ('enforcing', 'stale_cache', 'none_configured', 'unavailable', 'all_dropped')),
  policy_count integer not null,
  version text not null,
  last_seen_at timestamptz(3) not null,
  primary key (org_id, agent_id, instance_id, since)
);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
