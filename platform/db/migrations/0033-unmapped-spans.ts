// Spans of OpenTelemetry: the tasks of traces, and the spans that are not acts of an agent.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const spans = /* sql */ `
-- The task of a trace, as the first of its spans that arrived settled it: later ones may not name their conversation.
create table trace_tasks (
  org_id text not null,
  api_key_id text not null,
  trace_id text not null,
  task_id text not null,
  noted_at timestamptz(3) not null,
  primary key (org_id, api_key_id, trace_id)
);
create index trace_tasks_noted on trace_tasks (org_id, noted_at);
select svc_isolate('trace_tasks');

create table unmapped_spans (
  org_id text not null,
  id bigint generated always as identity,
  -- SHA-256 of what the spans of the row have in common.
  digest bytea not null,
  api_key_id text,
  service text,
  scope text,
  name text not null,
  kind text,
  count bigint not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  trace_id text,
  span_id text,
  primary key (org_id, id)
);
create unique index unmapped_spans_digest on unmapped_spans (org_id, digest);
select svc_isolate('unmapped_spans');
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(spans)
}
