// The kind `transfer` of an offer, which earlier versions called `handover`. Recorded events keep the old name.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const statements = /* sql */ `
alter table offers drop constraint offers_kind_check;
update offers set kind = 'transfer' where kind = 'handover';
alter table offers add constraint offers_kind_check check (kind in ('invitation', 'admin', 'transfer', 'successor'));
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(statements)
}
