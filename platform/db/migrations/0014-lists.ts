// The columns and indexes of lists: the times of a task's first and last step, and the order of writes.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const times = /* sql */ `
alter table task_heads add column min_step bigint not null default 1;
update task_heads h set min_step = f.step, first_ts = f.timestamp, last_ts = l.timestamp
from
  (select distinct on (org_id, task_id) org_id, task_id, step, timestamp from log_entries order by org_id, task_id, step, seq) f,
  (select distinct on (org_id, task_id) org_id, task_id, timestamp from log_entries order by org_id, task_id, step desc, seq) l
where f.org_id = h.org_id and f.task_id = h.task_id and l.org_id = h.org_id and l.task_id = h.task_id;
`

const order = /* sql */ `
alter table events add column log_index bigint not null default 0;
alter table events disable trigger events_append_only;
update events v set log_index = r.log_index from log_records r
  where r.org_id = v.org_id and r.type = 'event' and r.subject_id = v.id;
alter table events enable trigger events_append_only;

alter table incidents add column log_index bigint not null default 0;
update incidents i set log_index = r.log_index
  from (select org_id, subject_id, min(log_index) as log_index from log_records where type = 'incident' group by 1, 2) r
  where r.org_id = i.org_id and r.subject_id = i.id;

create index events_written on events (org_id, log_index);
create index events_of_kind on events (org_id, kind, log_index);
create index events_of_actor on events (org_id, actor_id, log_index);
create index events_of_subject on events (org_id, subject_id, log_index);

-- No query uses this order, and every counted occurrence would update the index.
drop index incidents_latest;
create index incidents_written on incidents (org_id, log_index);
create index incidents_of_state on incidents (org_id, state, log_index);
create index incidents_of_severity on incidents (org_id, severity, log_index);
create index incidents_of_agent on incidents (org_id, agent_id, log_index);
create index incidents_of_task on incidents (org_id, task_id, log_index);
`

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

const tasks = /* sql */ `
-- The index that orders and counts tasks includes the columns that filter them.
drop index task_heads_latest;
create index task_heads_latest on task_heads (org_id, last_log_index desc)
  include (first_log_index, agent_id, task_id, has_end, has_error);
-- In byte order, for filters by prefix: row-level security lets an index serve plain comparisons only, and neither LIKE nor
-- functions.
create index task_heads_of_name on task_heads (org_id, task_id collate "C");
create index task_heads_failed on task_heads (org_id, last_log_index desc) where has_error;
create index task_heads_open on task_heads (org_id, last_log_index desc) where not has_end;

create index log_entries_of_type on log_entries (org_id, step_type, log_index);

create table task_counts (
  org_id text not null,
  agent_id text not null,
  running bigint not null,
  completed bigint not null,
  failed bigint not null,
  primary key (org_id, agent_id)
);
insert into task_counts select org_id, agent_id, count(*) filter (where not has_end and not has_error),
  count(*) filter (where has_end and not has_error), count(*) filter (where has_error) from task_heads group by 1, 2;
select svc_isolate('task_counts');

-- The database maintains the counts, in the transaction of each statement that changes tasks.
create function svc_count_tasks() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addCounts('select *, 1 as n from after_change')}
  elsif tg_op = 'UPDATE' then
    ${addCounts('select *, 1 as n from after_change union all select *, -1 from before_change')}
  else
    ${addCounts('select *, -1 as n from before_change')}
  end if;
  return null;
end $$;
create trigger task_counts_inserted after insert on task_heads
  referencing new table as after_change for each statement execute function svc_count_tasks();
create trigger task_counts_updated after update on task_heads
  referencing old table as before_change new table as after_change for each statement execute function svc_count_tasks();
create trigger task_counts_deleted after delete on task_heads
  referencing old table as before_change for each statement execute function svc_count_tasks();
`

const agents = /* sql */ `
-- The values that members set; they override those that the agent sends.
alter table agents add column operator_set jsonb not null default '{}';
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(times)
  await knex.raw(order)
  await knex.raw(tasks)
  await knex.raw(agents)
}
