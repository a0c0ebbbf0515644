// The log: its entries and records, its tree, and what retention and erasures leave of it (docs/design/log.md).

export const log = /* sql */ `
create table org_log (
  org_id text primary key references organizations,
  size bigint not null default 0,
  last_received_at timestamptz(3),
  config_version bigint not null default 1,
  epoch integer not null default 1,
  checkpoint_size bigint not null default 0,
  checkpoint_root text not null default 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  checkpoint_at timestamptz(3),
  retention_days integer not null default 365 check (retention_days >= 184),
  -- The key that subjects are hashed with is encrypted before its first use.
  subject_key bytea default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  sealed_subject_key text,
  -- Why the log takes no entries until the operator decides: it holds less than was signed.
  held_reason text,
  check (subject_key is not null or sealed_subject_key is not null)
);
create index org_log_held on org_log (org_id) where held_reason is not null;

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
create index log_entries_of_type on log_entries (org_id, step_type, log_index);

-- Steps of each day (UTC) when they were received, and the policies that they violate, without waived ones; no prune changes them.
create table log_days (
  org_id text not null,
  day date not null,
  steps bigint not null,
  violations bigint not null,
  primary key (org_id, day)
);

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

-- Records of the log other than steps.
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
-- Few leaves declare removals, and verifications and reports read all of them.
create index log_records_removals on log_records (org_id, log_index) where type in ('erasure', 'prune');

-- json, not jsonb: evidence may quote the name of a step, which may contain any character, including NUL.
create table log_violations (
  org_id text not null,
  log_index bigint not null,
  policy_id bigint not null,
  name text not null,
  severity text not null,
  mode text not null,
  waived boolean not null,
  asks boolean,
  manifest_id text,
  details json not null,
  -- Those of the entry, so that a task finds its violations among those of the organization.
  task_id text not null,
  seq bigint not null,
  primary key (org_id, log_index, policy_id)
);
create index log_violations_of_task on log_violations (org_id, task_id, seq);

-- The hash of every full subtree of 256^level leaves: with the leaves themselves, 257/256 rows per leaf are enough to
-- make every proof by reading a few blocks of 256.
create table log_tiles (
  org_id text not null,
  level smallint not null check (level between 1 and 6),
  index bigint not null,
  hash text not null,
  primary key (org_id, level, index)
);

create table checkpoints (
  org_id text not null,
  epoch integer not null,
  size bigint not null,
  root text not null,
  note text not null,
  published_at timestamptz(3) not null,
  primary key (org_id, epoch, size, published_at)
);

-- The name of this installation in checkpoints and the key that signs them, fixed at the first start with a key.
create table svc_log_identity (
  only_one boolean primary key default true check (only_one),
  log_host text not null,
  public_key text not null
);

-- Processes without the signing key ask here whether the logs are those that were signed (docs/adr/0066-processes-without-the-key.md).
create table log_confirmations (
  id text primary key,
  renewed_at timestamptz not null default now(),
  confirmed_at timestamptz
);

create table erasures (
  org_id text not null,
  id text not null,
  task_id text,
  legal_basis text not null,
  erased_by text not null,
  erased_at timestamptz(3) not null,
  entries bigint not null,
  tasks bigint not null default 1,
  primary key (org_id, id)
);
create index erasures_of_task on erasures (org_id, task_id);

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

create function svc_ensure_month(moment timestamptz) returns void language plpgsql
  -- The owner of the partitions creates them, not the role that needs them.
  security definer set search_path = public, pg_temp as $$
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
