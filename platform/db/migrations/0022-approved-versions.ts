// The version of each assignment that a person put in force last: guards compare with it, so that many small changes are held as one.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const column = /* sql */ `
alter table assignments add column approved_sha text;
update assignments set approved_sha = manifest_sha;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(column)
}
