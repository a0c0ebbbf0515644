// The keys that subjects are hashed with are encrypted before their first use.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
alter table org_log
  alter column subject_key drop not null,
  add column sealed_subject_key text,
  add check (subject_key is not null or sealed_subject_key is not null);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
