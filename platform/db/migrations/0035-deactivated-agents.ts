// One stop of an organization has the agents that are deactivated as its target.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const deactivated = /* sql */ `
alter table stops drop constraint stops_target_kind_check;
alter table stops drop constraint stops_check;
alter table stops add constraint stops_target_kind_check
  check (target_kind in ('agent', 'manifest', 'workspace', 'deactivated'));
alter table stops add constraint stops_check check ((target_kind in ('workspace', 'deactivated')) = (target_id is null));
create unique index stops_deactivated on stops (org_id) where target_kind = 'deactivated';
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(deactivated)
}
