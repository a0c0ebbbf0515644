// People, their workspaces, sessions and devices.

export const access = /* sql */ `
create table people (
  person_id text primary key,
  email text not null unique check (email = lower(email)),
  name text not null,
  is_capped boolean not null default false,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3)
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
  kind text not null check (kind in ('invitation', 'admin', 'transfer', 'successor')),
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'auditor')),
  state text not null check (state in ('pending', 'accepted', 'declined', 'revoked', 'expired')),
  made_by text not null,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3),
  decided_at timestamptz(3),
  link_hash bytea unique,
  primary key (org_id, id)
);
create unique index offers_once on offers (org_id, kind, email) where state = 'pending';
create index offers_to on offers (email);
create index offers_pending on offers (expires_at) where state = 'pending';

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
-- A new session begins in the workspace of the last one.
create index sessions_of_person on sessions (person_id, made_at);

create table refresh_tokens (
  token_hash bytea primary key,
  session_id text not null references sessions on delete cascade,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index refresh_tokens_of_session on refresh_tokens (session_id);

-- Device authorization (RFC 8628).
create table device_codes (
  device_hash bytea primary key,
  user_code text not null unique,
  state text not null check (state in ('pending', 'approved', 'denied', 'used')),
  person_id text references people,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  polled_at timestamptz(3),
  interval_seconds integer not null default 5
);
create index device_codes_age on device_codes (expires_at);
`
