// What local engines report beside steps: decisions without a recorded step, and gaps (docs/adr/0052-traces-from-engines.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const reports = /* sql */ `
-- By agent: a report of one agent hides none of another.
create table trace_reports (
  org_id text not null,
  agent_id text not null,
  kind text not null check (kind in ('unrecorded', 'gap')),
  id text not null,
  -- The event of the report.
  log_index bigint not null,
  primary key (org_id, agent_id, kind, id)
);
-- For the retention of the log.
create index trace_reports_index on trace_reports (org_id, log_index);
select svc_isolate('trace_reports');
`

const occurrences = /* sql */ `
-- Why an engine reported the occurrence, such as executed_although_blocked.
alter table incident_occurrences add column reported_reason text;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(reports)
  await knex.raw(occurrences)
}
