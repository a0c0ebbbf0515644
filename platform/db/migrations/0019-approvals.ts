// The approval of a policy, and which violations asked for one. Both are null for everything written before.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const columns = /* sql */ `
alter table policies add column approval jsonb;
alter table log_violations add column asks boolean;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(columns)
}
