// Records of the log other than steps.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table log_records (
  org_id text not null,
  log_index bigint not null,
  received_at timestamptz(3) not null,
  type text not null,
  subject_id text not null,
  hash text not null,
  record text not null,
  salts text,
  body text,
  primary key (org_id, log_index)
);
create index log_records_of_subject on log_records (org_id, subject_id, log_index);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
