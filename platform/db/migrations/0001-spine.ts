// The first schema: organizations, keys, agents, policies, the log, incidents and the audit trail.
// The key of every tenant's table begins with org_id; the key of a partitioned table also contains received_at.
import type { Knex } from 'knex'

const tables = /* sql */ `
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

create table org_log (
  org_id text primary key references organizations,
  size bigint not null default 0,
  last_received_at timestamptz(3),
  config_version bigint not null default 1
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
  sent jsonb not null,
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

create table assignments (
  org_id text not null,
  id bigint not null,
  agent_id text not null,
  repo_id bigint,
  manifest_path text not null,
  manifest_sha text not null,
  manifest_name text not null,
  manifest_id text not null,
  waivers jsonb not null,
  status text not null check (status in ('synced', 'out_of_sync', 'degraded', 'pinned')),
  created_at timestamptz(3) not null,
  removed_at timestamptz(3),
  primary key (org_id, id)
);
create unique index assignments_once on assignments (org_id, agent_id, coalesce(repo_id, 0), manifest_path)
  where removed_at is null;

create table policies (
  org_id text not null,
  id bigint not null,
  assignment_id bigint,
  name text not null,
  rule_type text not null,
  params jsonb not null,
  scope text not null check (scope in ('agent_registration', 'step_execution', 'task_execution')),
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  description text,
  risk_classification text,
  agent_id text,
  enabled boolean not null,
  mode text not null check (mode in ('enforce', 'observe')),
  controls text[] not null,
  version bigint not null,
  manifest_id text,
  manifest_name text,
  manifest_repo text,
  manifest_path text,
  manifest_sha text,
  manifest_assigned_at timestamptz(3),
  manifest_assigned_by text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  primary key (org_id, id)
);
create index policies_of_agent on policies (org_id, agent_id) where deleted_at is null;

create table policy_sets (
  org_id text not null,
  digest text not null,
  body text not null,
  primary key (org_id, digest)
);

create table log_entries (
  org_id text not null,
  log_index bigint not null,
  received_at timestamptz(3) not null,
  log_id text not null,
  agent_id text not null,
  task_id text not null,
  seq bigint not null,
  step bigint not null,
  step_type text not null,
  timestamp text not null,
  occurred_at timestamptz(3) not null,
  is_external_call boolean not null,
  has_write_permission boolean not null,
  prev_hash text not null,
  client_prev_hash text,
  api_key_id text not null,
  policy_set text not null,
  hash text not null,
  record text not null,
  primary key (org_id, log_index, received_at)
) partition by range (received_at);
create index log_entries_of_task on log_entries (org_id, task_id, seq);
-- The id of an entry holds its received_at, so a BRIN index finds it; a B-tree would be a thousand times as large.
create index log_entries_received on log_entries using brin (received_at) with (pages_per_range = 16);
create index log_entries_of_agent on log_entries (org_id, agent_id, log_index);

create table log_payloads (
  org_id text not null,
  log_index bigint not null,
  received_at timestamptz(3) not null,
  salts text,
  body text,
  primary key (org_id, log_index, received_at)
) partition by range (received_at);

create table log_leaves (
  org_id text not null,
  log_index bigint not null,
  type text not null,
  leaf_hash text not null,
  received_at timestamptz(3) not null,
  primary key (org_id, log_index)
);

create table task_heads (
  org_id text not null,
  task_id text not null,
  agent_id text not null,
  seq bigint not null,
  hash text not null,
  first_log_index bigint not null,
  last_log_index bigint not null,
  max_step bigint not null,
  first_ts text not null,
  last_ts text not null,
  first_received_at timestamptz(3) not null,
  last_received_at timestamptz(3) not null,
  has_end boolean not null,
  has_error boolean not null,
  primary key (org_id, task_id)
);
create index task_heads_latest on task_heads (org_id, last_log_index desc);
create index task_heads_of_agent on task_heads (org_id, agent_id, last_log_index desc);

-- json, not jsonb: evidence may quote the name of a step, which may contain any character, including NUL.
create table log_violations (
  org_id text not null,
  log_index bigint not null,
  policy_id bigint not null,
  name text not null,
  severity text not null,
  mode text not null,
  waived boolean not null,
  manifest_id text,
  details json not null,
  primary key (org_id, log_index, policy_id)
);

create table incidents (
  org_id text not null,
  id text not null,
  agent_id text not null,
  task_id text,
  log_id text,
  step bigint,
  policy_id bigint not null,
  policy_name text not null,
  rule_type text not null,
  manifest_id text,
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  scope text not null check (scope in ('agent_registration', 'step_execution', 'task_execution')),
  state text not null check (state in ('open', 'active', 'resolved', 'ignored')),
  mode text not null check (mode in ('enforce', 'observe')),
  risk_score double precision not null,
  violation_details json not null,
  occurrences integer not null check (occurrences > 0),
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  reviewed_by text,
  note text,
  history jsonb not null default '[]',
  primary key (org_id, id)
);
create unique index incidents_once on incidents (org_id, policy_id, agent_id, coalesce(task_id, ''))
  where state in ('open', 'active');
create index incidents_of_subject on incidents (org_id, policy_id, agent_id, task_id);
create index incidents_latest on incidents (org_id, last_seen desc, id);

create table idempotency_keys (
  org_id text not null,
  api_key_id text not null,
  key text not null,
  salt bytea not null,
  mac bytea not null,
  answer json,
  created_at timestamptz(3) not null,
  primary key (org_id, api_key_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table events (
  org_id text not null,
  id text not null,
  at timestamptz(3) not null,
  actor_kind text not null,
  actor_id text not null,
  kind text not null,
  subject_kind text not null,
  subject_id text not null,
  data jsonb not null,
  primary key (org_id, id)
);
`

const functions = /* sql */ `
create function svc_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'events are append-only: % is refused', lower(tg_op) using errcode = 'restrict_violation';
end $$;
create trigger events_append_only before update or delete or truncate on events
  for each statement execute function svc_refuse_change();

create function svc_ensure_month(moment timestamptz) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', moment at time zone 'UTC') at time zone 'UTC';
  after timestamptz := (date_trunc('month', moment at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  suffix text := to_char(moment at time zone 'UTC', 'YYYYMM');
  parent text;
begin
  foreach parent in array array['log_entries', 'log_payloads'] loop
    if to_regclass(parent || '_' || suffix) is null then
      perform pg_advisory_xact_lock(hashtext('svc_ensure_month'));
      -- Rows of two kilobytes stay in their page as they are: compressing each cost half of an insert's time.
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L) with (toast_tuple_target = 8160)',
        parent || '_' || suffix, parent, first, after);
    end if;
  end loop;
end $$;
select svc_ensure_month(now());
select svc_ensure_month(now() + interval '1 month');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
  await knex.raw(functions)
}

export async function down(): Promise<void> {
  throw new Error('the first migration is irreversible: drop the database instead')
}
