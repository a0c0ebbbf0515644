// Stops: which agents may take no further step, and which of them are resumed (docs/design/platform.md §9).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const stops = /* sql */ `
create table stops (
  org_id text not null,
  id text not null,
  target_kind text not null check (target_kind in ('agent', 'manifest', 'workspace')),
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
  check ((target_kind = 'workspace') = (target_id is null))
);
-- Every evaluation reads the stops that are on.
create index stops_on on stops (org_id, policy_id) where state <> 'resumed';
create index stops_by_state on stops (org_id, state, id);
select svc_isolate('stops');

-- Agents that were resumed before the others.
create table stop_resumed_agents (
  org_id text not null,
  stop_id text not null,
  agent_id text not null,
  primary key (org_id, stop_id, agent_id)
);
select svc_isolate('stop_resumed_agents');

alter table policies add column stop_id text;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(stops)
}
