// The tasks of the log and their counts, what senders are recognised by, and the memories of agents.
import { countedRows } from './counting.js'

/** Adds tasks, `n` each, to the counts of their agents and states; most changes leave a task in its state. */
const addCounts = (heads: string) => /* sql */ `
    insert into task_counts as c (org_id, agent_id, running, completed, failed)
      select * from (
        select h.org_id, h.agent_id, sum(case when not h.has_end and not h.has_error then h.n else 0 end) as running,
          sum(case when h.has_end and not h.has_error then h.n else 0 end) as completed,
          sum(case when h.has_error then h.n else 0 end) as failed
        from (${heads}) h group by 1, 2
      ) d where d.running <> 0 or d.completed <> 0 or d.failed <> 0
    on conflict (org_id, agent_id) do update set running = c.running + excluded.running,
      completed = c.completed + excluded.completed, failed = c.failed + excluded.failed;`

export const tasks = /* sql */ `
create table task_heads (
  org_id text not null,
  task_id text not null,
  agent_id text not null,
  seq bigint not null,
  hash text not null,
  first_log_index bigint not null,
  last_log_index bigint not null,
  min_step bigint not null default 1,
  max_step bigint not null,
  first_ts text not null,
  last_ts text not null,
  first_received_at timestamptz(3) not null,
  last_received_at timestamptz(3) not null,
  has_end boolean not null,
  has_error boolean not null,
  -- When the task was noted as unfinished.
  unfinished_at timestamptz(3),
  -- The rows of log_violations of its steps, for lists; like those rows, it is not evidence.
  violations bigint not null default 0,
  primary key (org_id, task_id)
);
create index task_heads_of_agent on task_heads (org_id, agent_id, last_log_index desc);
-- The index that orders and counts tasks includes the columns that filter them.
create index task_heads_latest on task_heads (org_id, last_log_index desc)
  include (first_log_index, agent_id, task_id, has_end, has_error, violations);
-- In byte order, for filters by prefix: row-level security lets an index serve plain comparisons only, and neither LIKE nor
-- functions.
create index task_heads_of_name on task_heads (org_id, task_id collate "C");
create index task_heads_violating on task_heads (org_id, last_log_index desc)
  include (first_log_index, agent_id, task_id, has_end, has_error) where violations > 0;
create index task_heads_failed on task_heads (org_id, last_log_index desc) where has_error;
-- A task with an error does not run, so that it is not unfinished.
create index task_heads_running on task_heads (org_id, last_log_index desc) where not has_end and not has_error;
-- Holds a task until it has ended or was noted, so that it stays small.
create index task_heads_not_noted on task_heads (org_id, last_received_at)
  where not has_end and not has_error and unfinished_at is null;

create table task_counts (
  org_id text not null,
  agent_id text not null,
  running bigint not null,
  completed bigint not null,
  failed bigint not null,
  primary key (org_id, agent_id)
);

${countedRows({ what: 'tasks', table: 'task_heads', counts: 'task_counts', add: addCounts })}
create table idempotency_keys (
  org_id text not null,
  api_key_id text not null,
  key text not null,
  salt bytea not null,
  mac bytea not null,
  answer json,
  created_at timestamptz(3) not null,
  primary key (org_id, api_key_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Ids by which senders without step numbers recognise their steps. A keyed hash of each id: what a client sends may be personal, or
-- be derived from what a step holds.
create table step_origins (
  org_id text not null,
  task_id text not null,
  origin bytea not null,
  step bigint not null,
  log_index bigint not null,
  primary key (org_id, task_id, origin)
);
-- For the retention of the log.
create index step_origins_index on step_origins (org_id, log_index);

-- What local engines report beside steps: decisions without a recorded step, and gaps (docs/adr/0050-trace-delivery.md). By agent:
-- a report of one agent hides none of another.
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

-- The task of a trace of OpenTelemetry, as the first of its spans that arrived settled it: later ones may not name their conversation.
create table trace_tasks (
  org_id text not null,
  api_key_id text not null,
  trace_id text not null,
  task_id text not null,
  noted_at timestamptz(3) not null,
  primary key (org_id, api_key_id, trace_id)
);
create index trace_tasks_noted on trace_tasks (org_id, noted_at);

-- Spans that are not acts of an agent.
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

-- Who wrote what agents read from their memories: one row for each name or text that an agent wrote, by keyed digest.
create table memory_marks (
  org_id text not null,
  agent_id text not null,
  digest text collate "C" not null,
  label text not null check (label in ('own', 'third_party', 'public')),
  primary key (org_id, agent_id, digest)
);

create table memory_agents (
  org_id text not null,
  agent_id text not null,
  marks bigint not null,
  worst text check (worst in ('third_party', 'public')),
  overflow boolean not null,
  primary key (org_id, agent_id)
);

-- The labels of steps that read memory. Paths of parts hold keys of the output: an erasure leaves the least trusted label alone.
create table memory_reads (
  org_id text not null,
  log_index bigint not null,
  least text not null check (least in ('third_party', 'public')),
  labels jsonb not null,
  primary key (org_id, log_index)
);
`
