// Reports and their files, and how long the states of engines are known (docs/design/reports.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const reports = /* sql */ `
create table reports (
  org_id text not null,
  id text not null,
  number bigint not null,
  format text not null check (format in ('pdf', 'xml', 'json')),
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  agent_ids jsonb,
  cut_off bigint not null,
  root text not null,
  status text not null check (status in ('queued', 'running', 'ready', 'failed')),
  progress double precision not null default 0,
  error text,
  -- The run that works on it, which no older run can overwrite, and how many runs have begun.
  run_id text,
  attempts integer not null default 0,
  requested_by text not null,
  created_at timestamptz(3) not null,
  ready_at timestamptz(3),
  bytes bigint,
  sha256 text,
  log_index bigint,
  primary key (org_id, id)
);
create unique index reports_written on reports (org_id, number);
select svc_isolate('reports');

-- The file of a ready report, in parts of a few hundred kilobytes: every process can send it, and none holds it whole.
create table report_parts (
  org_id text not null,
  report_id text not null,
  part integer not null,
  content bytea not null,
  primary key (org_id, report_id, part)
);
alter table report_parts alter column content set storage external;
select svc_isolate('report_parts');
`

const coverage = /* sql */ `
-- A row is what one event of the log made known: the state of an engine from seen_from to last_seen_at. What is learned late is
-- another row with its own log index, so that a report as of an earlier one stays as it was.
alter table engine_intervals
  add column log_index bigint,
  add column seen_from timestamptz(3),
  -- The engine stopped at last_seen_at.
  add column ended boolean not null default false;
update engine_intervals set seen_from = since;
update engine_intervals i set log_index = e.log_index from events e
  where e.org_id = i.org_id and e.subject_id = i.agent_id and e.kind = 'engine.state'
    and e.data ->> 'instance_id' = i.instance_id and (e.data ->> 'since')::timestamptz = i.since;
-- Rows whose events were pruned come before every entry of the log.
update engine_intervals i set log_index = -n.number from (
    select ctid as row, row_number() over (partition by org_id, agent_id order by since desc, instance_id) as number
    from engine_intervals where log_index is null) n
  where i.ctid = n.row;
alter table engine_intervals alter column seen_from set not null;
alter table engine_intervals drop constraint engine_intervals_pkey;
alter table engine_intervals add primary key (org_id, agent_id, log_index);
create index engine_intervals_of_run on engine_intervals (org_id, agent_id, instance_id, since);

-- What was in effect in the past includes removed assignments.
create index assignments_of_agent on assignments (org_id, agent_id, id);
`

const removals = /* sql */ `
-- Few leaves declare removals, and verifications and reports read all of them.
create index log_records_removals on log_records (org_id, log_index) where type in ('erasure', 'prune');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(reports)
  await knex.raw(coverage)
  await knex.raw(removals)
}
