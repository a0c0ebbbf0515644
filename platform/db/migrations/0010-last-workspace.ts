// A new session begins where the last one worked; what has expired is found without reading every offer.
import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index sessions_of_person on sessions (person_id, made_at);
    create index offers_pending on offers (expires_at) where state = 'pending';`)
}

export async function down(): Promise<void> {
  throw new Error('who has access is not undone: restore a backup instead')
}
