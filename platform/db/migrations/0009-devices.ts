// Device authorization (RFC 8628).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table device_codes (
  device_hash bytea primary key,
  user_code text not null unique,
  state text not null check (state in ('pending', 'approved', 'denied', 'used')),
  person_id text references people,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  polled_at timestamptz(3)
);
create index device_codes_age on device_codes (expires_at);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
