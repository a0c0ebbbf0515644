// Repositories of manifests, the manifests that they hold, and the versions of assignments (docs/design/git.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const repositories = /* sql */ `
create table repositories (
  org_id text not null,
  id bigint not null,
  provider text not null check (provider in ('github', 'git', 'bundled')),
  owner text not null,
  name text not null,
  branch text not null,
  url text,
  visibility text not null check (visibility in ('public', 'private')),
  installation_id bigint,
  sealed_token text,
  sealed_webhook_secret text,
  status text not null check (status in ('synced', 'degraded')),
  conditions jsonb not null default '[]',
  last_commit_sha text,
  etag text,
  last_checked_at timestamptz(3),
  -- Null: the timer does not read it.
  next_check_at timestamptz(3),
  failures integer not null default 0,
  -- Each reading of the branch takes the next turn; only the last one may write what it read.
  turn bigint not null default 0,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null,
  created_by text,
  removed_at timestamptz(3),
  primary key (org_id, id)
);
create unique index repositories_once on repositories (org_id, provider, coalesce(url, ''), lower(owner), lower(name), branch)
  where removed_at is null;
create index repositories_due on repositories (next_check_at) where removed_at is null;
select svc_isolate('repositories');

create table repository_files (
  org_id text not null,
  repo_id bigint not null,
  path text not null,
  blob_sha text not null,
  size bigint not null,
  name text,
  version text,
  policies integer not null,
  valid boolean not null,
  findings json not null,
  -- False for a YAML file without policies, which is remembered so that it is read once.
  manifest boolean not null,
  primary key (org_id, repo_id, path)
);
select svc_isolate('repository_files');

-- The text of every version that was ever in force, by Git's id of it: for another risk level of an agent, and to roll back.
create table manifest_texts (
  org_id text not null,
  blob_sha text not null,
  body text not null,
  primary key (org_id, blob_sha)
);
select svc_isolate('manifest_texts');
`

const assignments = /* sql */ `
alter table assignments
  add column manifest_repo text,
  add column commit_sha text,
  add column ref text,
  add column core_version text,
  add column assigned_by text,
  add column conditions jsonb not null default '[]',
  add column pin text check (pin in ('task')),
  -- The version at the head of the branch, when it was last read.
  add column head_sha text,
  add column pinned_sha text,
  add column held_sha text,
  add column rejected_shas text[] not null default '{}',
  add column skipped text[] not null default '{}',
  add column policies integer not null default 0;
create index assignments_of_repo on assignments (org_id, repo_id, id) where removed_at is null;

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
  primary key (org_id, assignment_id, number)
);
select svc_isolate('assignment_versions');

alter table policies
  add column from_index bigint not null default 0,
  add column until_index bigint,
  -- As the manifest has it: a replaced version is disabled, and still evaluated for tasks that keep it.
  add column was_enabled boolean not null default true,
  add column waived_until timestamptz(3);
create index policies_of_assignment on policies (org_id, assignment_id, from_index);

-- The baseline moved into a folder of the library.
update assignments set manifest_path = 'security/agentic-baseline.yaml' where repo_id is null and manifest_path = 'baseline.yaml';
update assignments a set policies = (select count(*) from policies p
  where p.org_id = a.org_id and p.assignment_id = a.id and p.enabled and p.deleted_at is null);
insert into assignment_versions select org_id, id, 1, manifest_sha, null, 0, null, created_at, null from assignments;
`

/** The library, connected to every workspace that exists; new workspaces get it from `connectLibrary`. */
const library = /* sql */ `
insert into counters (org_id, kind, value) select org_id, 'repo', 1 from organizations
  on conflict (org_id, kind) do update set value = counters.value + 1;
insert into repositories (org_id, id, provider, owner, name, branch, visibility, status, created_at)
  select o.org_id, c.value, 'bundled', 'svc', 'library', 'main', 'public', 'synced', now()
  from organizations o join counters c on c.org_id = o.org_id and c.kind = 'repo';
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(repositories)
  await knex.raw(assignments)
  await knex.raw(library)
}
