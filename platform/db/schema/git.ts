// Repositories of manifests, the manifests that they hold, and the GitHub App (docs/design/git.md).

export const git = /* sql */ `
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
  -- GitHub's own id of the repository, which stays when it gets another name or owner.
  github_id bigint,
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
  -- When the reading that has not ended began.
  reading_since timestamptz(3),
  created_at timestamptz(3) not null,
  created_by text,
  removed_at timestamptz(3),
  primary key (org_id, id)
);
create unique index repositories_once on repositories (org_id, provider, coalesce(url, ''), lower(owner), lower(name), branch)
  where removed_at is null;
create index repositories_due on repositories (next_check_at) where removed_at is null;
create index repositories_of_github on repositories (org_id, github_id) where removed_at is null and github_id is not null;

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

-- The text of every version that was ever in force, or that waited for it at the head of a branch, by Git's id of it: for another risk
-- level of an agent, to roll back, and to compare.
create table manifest_texts (
  org_id text not null,
  blob_sha text not null,
  body text not null,
  primary key (org_id, blob_sha)
);

-- The rows belong to no organization: which one a delivery concerns is known when it is handled.
create table github_deliveries (
  -- The GUID that GitHub gives a delivery; one that GitHub sends again keeps it.
  delivery_id text primary key,
  event text not null,
  action text,
  installation_id bigint,
  -- Null once it is handled.
  body bytea,
  status text not null check (status in ('waiting', 'done', 'failed')),
  attempts integer not null default 0,
  error text,
  received_at timestamptz(3) not null,
  handled_at timestamptz(3)
);
create index github_deliveries_open on github_deliveries (received_at) where status <> 'done';
create index github_deliveries_old on github_deliveries (received_at);

create table github_installations (
  org_id text not null,
  installation_id bigint not null,
  account_id bigint not null,
  account text not null,
  suspended_at timestamptz(3),
  removed_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (org_id, installation_id)
);
`
