// Logs that take no entries until the operator decides, because they hold less than was signed (docs/design/log.md §5).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table org_log add column held_reason text')
  await knex.raw('create index org_log_held on org_log (org_id) where held_reason is not null')
}
