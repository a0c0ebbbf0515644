// Retention: the subjects of entries, retention periods, holds, and prunes.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
alter table org_log
  add column retention_days integer not null default 365 check (retention_days >= 184),
  add column subject_key bytea not null
    default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');

alter table erasures
  alter column task_id drop not null,
  add column tasks bigint not null default 1;

-- Subjects by keyed hash; the rows are deleted when the payload of their entry is erased.
create table subject_places (
  org_id text not null,
  subject bytea not null,
  log_index bigint not null,
  primary key (org_id, subject, log_index)
);
create index subject_places_of_entry on subject_places (org_id, log_index);

create table holds (
  org_id text not null,
  id text not null,
  task_id text,
  reason text not null,
  placed_by text not null,
  placed_at timestamptz(3) not null,
  released_by text,
  released_at timestamptz(3),
  primary key (org_id, id)
);

create table prunes (
  org_id text not null,
  id text not null,
  before timestamptz(3) not null,
  entries bigint not null,
  archive text not null,
  archive_sha256 text not null,
  pruned_by text not null,
  pruned_at timestamptz(3) not null,
  legal_basis text not null,
  primary key (org_id, id)
);

-- Events are deleted with the entries of their time, after these are archived, and never otherwise.
create or replace function svc_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('app.pruning', true) = 'on' then
    return null;
  end if;
  raise exception 'events are append-only: % is refused', lower(tg_op) using errcode = 'restrict_violation';
end $$;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
