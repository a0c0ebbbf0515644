// When a task was noted as unfinished, the indexes of tasks that run, and counters of events (docs/adr/0049-operations.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const tasks = /* sql */ `
alter table task_heads add column unfinished_at timestamptz(3);
-- Tasks that have been silent for long before this release raise no alarm now.
update task_heads set unfinished_at = last_received_at
  where not has_end and not has_error and last_received_at < now() - interval '1 day';

-- A task with an error does not run, so that it is not unfinished.
drop index task_heads_open;
create index task_heads_running on task_heads (org_id, last_log_index desc) where not has_end and not has_error;
-- Holds a task until it has ended or was noted, so that it stays small.
create index task_heads_not_noted on task_heads (org_id, last_received_at)
  where not has_end and not has_error and unfinished_at is null;
`

/** Adds events, `n` each, to the counts of their kind and actor in 4,096 log indexes. */
const addCounts = (events: string, n: 1 | -1) => /* sql */ `
    insert into event_counts as c (org_id, bucket, kind, actor_id, events)
      select org_id, log_index / 4096, kind, actor_id, ${n} * count(*) from ${events} group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (org_id, bucket, kind, actor_id) do update set events = c.events + excluded.events;`

const events = /* sql */ `
-- Totals of events: counting 500,000 of them took 50 ms. By parts of the log, so that those of a period are sums as well.
create table event_counts (
  org_id text not null,
  bucket bigint not null,
  kind text not null,
  actor_id text not null,
  events bigint not null,
  primary key (org_id, bucket, kind, actor_id)
);
insert into event_counts select org_id, log_index / 4096, kind, actor_id, count(*) from events group by 1, 2, 3, 4;
select svc_isolate('event_counts');

create function svc_count_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addCounts('after_change', 1)}
  else
    ${addCounts('before_change', -1)}
  end if;
  return null;
end $$;
revoke execute on function svc_count_events() from public;
create trigger event_counts_inserted after insert on events
  referencing new table as after_change for each statement execute function svc_count_events();
-- Events are deleted only when their part of the log is pruned.
create trigger event_counts_deleted after delete on events
  referencing old table as before_change for each statement execute function svc_count_events();
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tasks)
  await knex.raw(events)
}
