// People, their workspaces, and their sessions.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tables = /* sql */ `
create table people (
  person_id text primary key,
  email text not null unique check (email = lower(email)),
  name text not null,
  is_capped boolean not null default false,
  created_at timestamptz(3) not null
);

create table memberships (
  org_id text not null references organizations,
  person_id text not null references people,
  role text not null check (role in ('owner', 'admin', 'member', 'auditor')),
  joined_at timestamptz(3) not null,
  suspended_at timestamptz(3),
  primary key (org_id, person_id),
  check (role <> 'owner' or suspended_at is null)
);
create unique index memberships_one_owner on memberships (org_id) where role = 'owner';
create index memberships_of_person on memberships (person_id);

create table offers (
  org_id text not null references organizations,
  id text not null unique,
  kind text not null check (kind in ('invitation', 'admin', 'handover', 'successor')),
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'auditor')),
  state text not null check (state in ('pending', 'accepted', 'declined', 'revoked', 'expired')),
  made_by text not null,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3),
  decided_at timestamptz(3),
  primary key (org_id, id)
);
create unique index offers_once on offers (org_id, kind, email) where state = 'pending';
create index offers_to on offers (email);

create table magic_links (
  token_hash bytea primary key,
  email text not null,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index magic_links_age on magic_links (expires_at);

create table sessions (
  session_id text primary key,
  person_id text not null references people,
  current_org text,
  made_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create table refresh_tokens (
  token_hash bytea primary key,
  session_id text not null references sessions on delete cascade,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index refresh_tokens_of_session on refresh_tokens (session_id);

select svc_isolate('memberships'), svc_isolate('offers');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
}
