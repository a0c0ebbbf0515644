// What lists are answered from: when a task's first and last step by number occurred.
import type { Knex } from 'knex'

const times = /* sql */ `
alter table task_heads add column min_step bigint not null default 1;
update task_heads h set min_step = f.step, first_ts = f.timestamp, last_ts = l.timestamp
from
  (select distinct on (org_id, task_id) org_id, task_id, step, timestamp from log_entries order by org_id, task_id, step, seq) f,
  (select distinct on (org_id, task_id) org_id, task_id, timestamp from log_entries order by org_id, task_id, step desc, seq) l
where f.org_id = h.org_id and f.task_id = h.task_id and l.org_id = h.org_id and l.task_id = h.task_id;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(times)
}

export async function down(): Promise<void> {
  throw new Error('a migration of the log is not undone: restore a backup instead')
}
