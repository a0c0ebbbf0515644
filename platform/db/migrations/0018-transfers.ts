// The kind `transfer` of an offer, which earlier versions called `handover`. Events keep the word they were recorded with.
import type { Knex } from 'knex'

const statements = /* sql */ `
alter table offers drop constraint offers_kind_check;
update offers set kind = 'transfer' where kind = 'handover';
alter table offers add constraint offers_kind_check check (kind in ('invitation', 'admin', 'transfer', 'successor'));
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(statements)
}

export async function down(): Promise<void> {
  throw new Error('who has access is not undone: restore a backup instead')
}
