// Ids by which senders without step numbers recognise their steps.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const origins = /* sql */ `
-- A keyed hash of each id: what a client sends may be personal, or be derived from what a step holds.
create table step_origins (
  org_id text not null,
  task_id text not null,
  origin bytea not null,
  step bigint not null,
  log_index bigint not null,
  primary key (org_id, task_id, origin)
);
-- For the retention of the log.
create index step_origins_index on step_origins (org_id, log_index);
select svc_isolate('step_origins');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(origins)
}
