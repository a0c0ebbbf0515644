// The audit trail with its counts, and reports.

/** Adds events, `n` each, to the counts of their kind and actor in 4,096 log indexes. */
const addCounts = (rows: string, n: 1 | -1) => /* sql */ `
    insert into event_counts as c (org_id, bucket, kind, actor_id, events)
      select org_id, log_index / 4096, kind, actor_id, ${n} * count(*) from ${rows} group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (org_id, bucket, kind, actor_id) do update set events = c.events + excluded.events;`

export const events = /* sql */ `
create table events (
  org_id text not null,
  id text not null,
  log_index bigint not null default 0,
  at timestamptz(3) not null,
  actor_kind text not null,
  actor_id text not null,
  kind text not null,
  subject_kind text not null,
  subject_id text not null,
  data jsonb not null,
  primary key (org_id, id)
);
create index events_written on events (org_id, log_index);
create index events_of_kind on events (org_id, kind, log_index);
create index events_of_actor on events (org_id, actor_id, log_index);
create index events_of_subject on events (org_id, subject_id, log_index);

-- Events are deleted with the entries of their time, after these are archived, and never otherwise.
create function svc_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('app.pruning', true) = 'on' then
    return null;
  end if;
  raise exception 'events are append-only: % is refused', lower(tg_op) using errcode = 'restrict_violation';
end $$;
create trigger events_append_only before update or delete or truncate on events
  for each statement execute function svc_refuse_change();

-- Totals of events: counting 500,000 of them took 50 ms. By parts of the log, so that those of a period are sums as well.
create table event_counts (
  org_id text not null,
  bucket bigint not null,
  kind text not null,
  actor_id text not null,
  events bigint not null,
  primary key (org_id, bucket, kind, actor_id)
);

create function svc_count_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addCounts('after_change', 1)}
  else
    ${addCounts('before_change', -1)}
  end if;
  return null;
end $$;
create trigger event_counts_inserted after insert on events
  referencing new table as after_change for each statement execute function svc_count_events();
-- Events are deleted only when their part of the log is pruned.
create trigger event_counts_deleted after delete on events
  referencing old table as before_change for each statement execute function svc_count_events();

create table reports (
  org_id text not null,
  id text not null,
  number bigint not null,
  format text not null check (format in ('pdf', 'xml', 'json')),
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  -- By which times steps count (docs/design/reports.md §1).
  counted_by text not null default 'received' check (counted_by in ('received', 'occurred')),
  agent_ids jsonb,
  cut_off bigint not null,
  root text not null,
  status text not null check (status in ('queued', 'running', 'ready', 'failed')),
  progress double precision not null default 0,
  error text,
  -- The run that works on it, which no older run can overwrite.
  run_id text,
  requested_by text not null,
  created_at timestamptz(3) not null,
  ready_at timestamptz(3),
  bytes bigint,
  sha256 text,
  log_index bigint,
  primary key (org_id, id)
);
create unique index reports_written on reports (org_id, number);

-- The file of a ready report, in parts of a few hundred kilobytes: every process can send it, and none holds it whole.
create table report_parts (
  org_id text not null,
  report_id text not null,
  part integer not null,
  content bytea not null,
  primary key (org_id, report_id, part)
);
alter table report_parts alter column content set storage external;
`
