// Who put each version of an assignment in force; earlier versions do not record it.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table assignment_versions add column put_by text')
}
