// What lists are answered from: the times of a task's first and last step by number, and the order of what was written.
import type { Knex } from 'knex'

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

-- Nothing is read in this order, and counting an occurrence would have to write it.
drop index incidents_latest;
create index incidents_written on incidents (org_id, log_index);
create index incidents_of_state on incidents (org_id, state, log_index);
create index incidents_of_severity on incidents (org_id, severity, log_index);
create index incidents_of_agent on incidents (org_id, agent_id, log_index);
create index incidents_of_task on incidents (org_id, task_id, log_index);
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(times)
  await knex.raw(order)
}

export async function down(): Promise<void> {
  throw new Error('a migration of the log is not undone: restore a backup instead')
}
