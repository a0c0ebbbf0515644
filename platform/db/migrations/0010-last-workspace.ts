// A new session begins in the workspace of the last one; an index finds expired offers.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index sessions_of_person on sessions (person_id, made_at);
    create index offers_pending on offers (expires_at) where state = 'pending';`)
}
