// The GitHub App: its deliveries, its installations, and the repositories that it reads (docs/design/git.md §4).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

/** The rows belong to no organization: which one a delivery concerns is known when it is handled. */
const deliveries = /* sql */ `
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
`

const installations = /* sql */ `
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
select svc_isolate('github_installations');

-- GitHub's own id of the repository, which stays when it gets another name or owner.
alter table repositories add column github_id bigint;
create index repositories_of_github on repositories (org_id, github_id) where removed_at is null and github_id is not null;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(deliveries)
  await knex.raw(installations)
}
