// By which times the steps of a report count (docs/design/reports.md §1).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    "alter table reports add column counted_by text not null default 'received' check (counted_by in ('received', 'occurred'))",
  )
}
