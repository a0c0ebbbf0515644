// Processes without the signing key ask here whether the logs are those that were signed (docs/adr/0066-processes-without-the-key.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const confirmations = /* sql */ `
create table log_confirmations (
  id text primary key,
  renewed_at timestamptz not null default now(),
  confirmed_at timestamptz
);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(confirmations)
}
