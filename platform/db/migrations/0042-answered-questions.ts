// Questions that expired and whose steps a person approved later: what the incident of such a question waits for.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const occurrences = /* sql */ `
-- A keyed hash of the action that an engine asked about, and when it asked; null once the question is settled.
alter table incident_occurrences add column question bytea, add column asked_at timestamptz;
-- The gate by which a person approved the action later, and the step that it was recorded as.
alter table incident_occurrences add column approved_by_step bigint, add column settled_by_step bigint;
create index incident_occurrences_questions on incident_occurrences (org_id, task_id, question) where question is not null;
`

const steps = /* sql */ `
-- Steps that a gate approved, for questions whose reports arrive after them.
create table approved_steps (
  org_id text not null,
  task_id text not null,
  -- A keyed hash of the action: the digest itself could confirm a guess of erased content.
  action bytea not null,
  policy_id bigint not null,
  log_index bigint not null,
  agent_id text not null,
  approved_by_step bigint not null,
  step bigint not null,
  -- The earlier of the time that its sender states and of its arrival.
  at timestamptz not null,
  primary key (org_id, task_id, action, policy_id, log_index)
);
-- For the retention of the log.
create index approved_steps_index on approved_steps (org_id, log_index);
select svc_isolate('approved_steps');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(occurrences)
  await knex.raw(steps)
}
