// Organizations, their keys and agents, and what the processes of one database share.
// The key of every tenant's table begins with org_id; the key of a partitioned table also contains received_at.

export const tenants = /* sql */ `
create table organizations (
  org_id text primary key check (org_id ~ '^org_[0-9a-f]+$'),
  name text not null,
  kind text not null check (kind in ('personal', 'shared')),
  created_at timestamptz(3) not null
);

create table api_keys (
  org_id text not null references organizations,
  key_id text not null,
  key_hash bytea not null unique,
  first_key_hash bytea not null,
  name text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (org_id, key_id)
);

create table counters (
  org_id text not null,
  kind text not null check (kind in ('policy', 'repo', 'assignment')),
  value bigint not null,
  primary key (org_id, kind)
);

create table agents (
  org_id text not null,
  agent_id text not null,
  api_key_id text not null,
  agent_key text not null,
  -- The key without case, outer spaces and Unicode form: a stopped agent must not register again as another.
  folded_key text not null default '',
  sent jsonb not null,
  -- The values that members set; they override those that the agent sends.
  operator_set jsonb not null default '{}',
  name text not null,
  purpose text,
  owner_id text,
  risk_classification text not null
    check (risk_classification in ('minimal', 'limited', 'high', 'unacceptable', 'unclassified')),
  pending_risk_classification text,
  environment text not null check (environment in ('development', 'test', 'staging', 'production')),
  declared_tools jsonb,
  attributes jsonb not null,
  active boolean not null,
  version bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, agent_id),
  unique (org_id, api_key_id, agent_key)
);
create index agents_similar on agents (org_id, api_key_id, folded_key);

-- The states of local engines. A row is what one event of the log made known: the state of an engine from seen_from to last_seen_at.
-- What is learned late is another row with its own log index, so that a report as of an earlier one stays as it was.
create table engine_intervals (
  org_id text not null,
  agent_id text not null,
  instance_id text not null,
  since timestamptz(3) not null,
  load_state text not null
    check (load_state in ('enforcing', 'stale_cache', 'none_configured', 'unavailable', 'all_dropped')),
  policy_count integer not null,
  version text not null,
  last_seen_at timestamptz(3) not null,
  log_index bigint not null,
  seen_from timestamptz(3) not null,
  -- The engine stopped at last_seen_at.
  ended boolean not null default false,
  primary key (org_id, agent_id, log_index)
);
create index engine_intervals_of_run on engine_intervals (org_id, agent_id, instance_id, since);
-- The latest states of an agent's engines, which an engine that restarts often has thousands of.
create index engine_intervals_latest on engine_intervals (org_id, agent_id, since desc);

-- Named filters of lists, as query strings.
create table list_views (
  org_id text not null,
  id text not null,
  list text not null,
  name text not null,
  query text not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index list_views_once on list_views (org_id, list, name);

-- The latest state of each run of an engine that still counts, so that a list tells which agents are governed now. The intervals above
-- are the evidence; these rows follow from them.
create table engine_runs (
  org_id text not null,
  agent_id text not null,
  instance_id text not null,
  load_state text not null,
  policy_count integer not null,
  version text not null,
  since timestamptz(3) not null,
  first_seen_at timestamptz(3) not null,
  -- The last heartbeat with this state, and the last one of all: a late one may confirm an earlier state for longer.
  state_seen_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  -- The engine stopped at state_seen_at.
  ended boolean not null,
  primary key (org_id, agent_id, instance_id)
) with (fillfactor = 80);

-- When all engines of an agent enforce policies, as far as the last heartbeat of any of them tells: a silent engine ends it.
create table agent_engines (
  org_id text not null,
  agent_id text not null,
  enforces_from timestamptz not null,
  enforces_until timestamptz not null,
  primary key (org_id, agent_id)
) with (fillfactor = 80);

create table svc_encryption_check (
  only_row boolean primary key default true check (only_row),
  sealed text not null
);

-- Attempts to guess secrets. Unlogged: a crash of the server may forget the counts, and counting writes nothing to the write-ahead
-- log. The asker is stored as a hash, so that no address is stored.
create unlogged table svc_attempts (
  limit_name text not null,
  asker bytea not null,
  remaining double precision not null,
  was_allowed boolean not null,
  counted_at timestamptz(3) not null,
  primary key (limit_name, asker)
) with (fillfactor = 50);
`
