// Policies written by hand, and what people set on policies of manifests (docs/design/platform.md §4).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const versions = /* sql */ `
-- What the manifest has where a person set something else: enabled, mode.
alter table policies add column overridden jsonb;

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
select svc_isolate('policy_versions');
`

/** The default list and its filters that select few policies. */
const lists = /* sql */ `
create index policies_of_manifest on policies (org_id, manifest_id, id);
create index policies_of_rule on policies (org_id, rule_type, id);
create index policies_deleted on policies (org_id, id) where deleted_at is not null;
create index policies_by_hand on policies (org_id, id) where manifest_id is null;
create index policies_listed on policies (org_id, id) where deleted_at is null;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(versions)
  await knex.raw(lists)
}
