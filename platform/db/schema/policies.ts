// Assignments, policies and stops, and the versions of each that were in force.

import { countedRows } from './counting.js'

/** Adds policies, `n` each, to the counts of their targets; policies that are not enforced on steps count nowhere. */
const addCounts = (rows: string) => /* sql */ `
    insert into enforced_counts as c (org_id, agent_id, target_level, waived_until, policies)
      select * from (
        select p.org_id, coalesce(p.agent_id, '') as agent_id,
          case when p.manifest_id is null then coalesce(p.risk_classification, '') else '' end as target_level,
          coalesce(p.waived_until, '-infinity') as waived_until, sum(p.n) as policies
        from (${rows}) p
        where p.enabled and p.mode = 'enforce' and p.scope <> 'agent_registration' and p.deleted_at is null and p.stop_id is null
        group by 1, 2, 3, 4
      ) d where d.policies <> 0
    on conflict (org_id, agent_id, target_level, waived_until) do update set policies = c.policies + excluded.policies;`

export const policies = /* sql */ `
create table assignments (
  org_id text not null,
  id bigint not null,
  agent_id text not null,
  repo_id bigint,
  manifest_path text not null,
  manifest_sha text not null,
  manifest_name text not null,
  manifest_id text not null,
  manifest_repo text,
  commit_sha text,
  ref text,
  core_version text,
  assigned_by text,
  waivers jsonb not null,
  status text not null check (status in ('synced', 'out_of_sync', 'degraded', 'pinned')),
  conditions jsonb not null default '[]',
  pin text check (pin in ('task')),
  -- The version at the head of the branch, when it was last read.
  head_sha text,
  pinned_sha text,
  held_sha text,
  -- The version that a person put in force last: guards compare with it, so that many small changes are held as one.
  approved_sha text,
  rejected_shas text[] not null default '{}',
  skipped text[] not null default '{}',
  policies integer not null default 0,
  created_at timestamptz(3) not null,
  removed_at timestamptz(3),
  primary key (org_id, id)
);
create unique index assignments_once on assignments (org_id, agent_id, coalesce(repo_id, 0), manifest_path)
  where removed_at is null;
create index assignments_of_repo on assignments (org_id, repo_id, id) where removed_at is null;
-- What was in effect in the past includes removed assignments.
create index assignments_of_agent on assignments (org_id, agent_id, id);

-- When a version was in force, in log indexes: a task keeps the version that was in force at its first entry.
create table assignment_versions (
  org_id text not null,
  assignment_id bigint not null,
  number integer not null,
  manifest_sha text not null,
  commit_sha text,
  from_index bigint not null,
  until_index bigint,
  from_at timestamptz(3) not null,
  until_at timestamptz(3),
  put_by text,
  primary key (org_id, assignment_id, number)
);

create table policies (
  org_id text not null,
  id bigint not null,
  assignment_id bigint,
  stop_id text,
  name text not null,
  rule_type text not null,
  params jsonb not null,
  scope text not null check (scope in ('agent_registration', 'step_execution', 'task_execution')),
  severity text not null check (severity in ('low', 'medium', 'high', 'critical')),
  approval jsonb,
  description text,
  risk_classification text,
  agent_id text,
  enabled boolean not null,
  -- As the manifest has it: a replaced version is disabled, and still evaluated for tasks that keep it.
  was_enabled boolean not null default true,
  mode text not null check (mode in ('enforce', 'observe')),
  -- What the manifest has where a person set something else: enabled, mode.
  overridden jsonb,
  waived_until timestamptz(3),
  controls text[] not null,
  version bigint not null,
  manifest_id text,
  manifest_name text,
  manifest_repo text,
  manifest_path text,
  manifest_sha text,
  manifest_assigned_at timestamptz(3),
  manifest_assigned_by text,
  from_index bigint not null default 0,
  until_index bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  primary key (org_id, id)
);
create index policies_of_agent on policies (org_id, agent_id) where deleted_at is null;
create index policies_of_assignment on policies (org_id, assignment_id, from_index);
-- The default list and its filters that select few policies.
create index policies_of_manifest on policies (org_id, manifest_id, id);
create index policies_of_rule on policies (org_id, rule_type, id);
create index policies_deleted on policies (org_id, id) where deleted_at is not null;
create index policies_by_hand on policies (org_id, id) where manifest_id is null;
create index policies_listed on policies (org_id, id) where deleted_at is null;

-- Policies that are enforced on steps now, by target: '' for all agents and all levels. A policy of a manifest is on its agent because of
-- the level already. One that is waived counts from the end of its waiver.
create table enforced_counts (
  org_id text not null,
  agent_id text not null,
  target_level text not null,
  waived_until timestamptz(3) not null,
  policies bigint not null,
  primary key (org_id, agent_id, target_level, waived_until)
);
create index enforced_counts_leveled on enforced_counts (org_id, agent_id) where target_level <> '';
${countedRows({ what: 'enforced', table: 'policies', counts: 'enforced_counts', add: addCounts })}
-- When each version of a policy that people change was in force, in log indexes and times. A policy of a manifest has rows here
-- from the first time that a person sets something on it.
create table policy_versions (
  org_id text not null,
  policy_id bigint not null,
  version bigint not null,
  -- The only agent that the version applied to; empty for all agents.
  target_agent text not null,
  -- The only risk level that it applied to.
  target_level text,
  -- Whether steps had to comply: enabled, not in observe mode, not for registrations.
  enforced boolean not null,
  waived_until timestamptz(3),
  controls text[] not null,
  from_index bigint not null,
  from_at timestamptz(3) not null,
  until_index bigint,
  until_at timestamptz(3),
  primary key (org_id, policy_id, version)
);
create index policy_versions_of_agent on policy_versions (org_id, target_agent, policy_id, version);

create table policy_sets (
  org_id text not null,
  digest text not null,
  body text not null,
  primary key (org_id, digest)
);

-- Which agents may take no further step (docs/design/platform.md §9). The agents that are deactivated have one stop together.
create table stops (
  org_id text not null,
  id text not null,
  target_kind text not null check (target_kind in ('agent', 'key', 'manifest', 'workspace', 'deactivated')),
  target_id text,
  reason text not null,
  state text not null check (state in ('stopped', 'resuming', 'resumed')),
  created_at timestamptz(3) not null,
  created_by text not null,
  -- The size of the log: assignments that were in force here or later count for the stop of a manifest.
  from_index bigint not null,
  policy_id bigint not null,
  stages jsonb not null default '[]',
  resumed_at timestamptz(3),
  primary key (org_id, id),
  check ((target_kind in ('workspace', 'deactivated')) = (target_id is null))
);
-- Every evaluation reads the stops that are on.
create index stops_on on stops (org_id, policy_id) where state <> 'resumed';
create index stops_by_state on stops (org_id, state, id);
create unique index stops_deactivated on stops (org_id) where target_kind = 'deactivated';

-- Agents that were resumed before the others.
create table stop_resumed_agents (
  org_id text not null,
  stop_id text not null,
  agent_id text not null,
  primary key (org_id, stop_id, agent_id)
);
`
