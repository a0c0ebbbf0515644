// State that the processes of one database share: the encryption key in use, and attempts to guess secrets.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table svc_encryption_check (
  only_row boolean primary key default true check (only_row),
  sealed text not null
);

-- Unlogged: a crash of the server may forget the counts, and counting writes nothing to the write-ahead log. The asker
-- is stored as a hash, so that no address is stored.
create unlogged table svc_attempts (
  limit_name text not null,
  asker bytea not null,
  remaining double precision not null,
  was_allowed boolean not null,
  counted_at timestamptz(3) not null,
  primary key (limit_name, asker)
) with (fillfactor = 50);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
