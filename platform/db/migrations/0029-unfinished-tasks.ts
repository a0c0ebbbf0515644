// When a task was noted as unfinished, and the indexes of tasks that run (docs/adr/0049-operations.md).
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

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tasks)
}
