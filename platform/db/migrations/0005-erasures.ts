// Erasures: their targets, actors and reasons.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table erasures (
  org_id text not null,
  id text not null,
  task_id text not null,
  legal_basis text not null,
  erased_by text not null,
  erased_at timestamptz(3) not null,
  entries bigint not null,
  primary key (org_id, id)
);
create index erasures_of_task on erasures (org_id, task_id);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
