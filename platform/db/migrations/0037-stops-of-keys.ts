// A stop can have the agents of one API key as its target, and keys of agents are compared without case and outer spaces.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const stopsOfKeys = /* sql */ `
alter table stops drop constraint stops_target_kind_check;
alter table stops add constraint stops_target_kind_check
  check (target_kind in ('agent', 'key', 'manifest', 'workspace', 'deactivated'));
create index agents_similar on agents (org_id, api_key_id, lower(btrim(agent_key)));
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(stopsOfKeys)
}
