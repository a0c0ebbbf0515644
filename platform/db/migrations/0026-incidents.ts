// Occurrences of incidents, counts of incidents that triggers keep, and the index that lists read.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const occurrences = /* sql */ `
-- One row for each violation that an incident counts. A registration has no task and no step: '' and 0, which plain
-- comparisons and indexes can serve.
create table incident_occurrences (
  org_id text not null,
  incident_id text not null,
  number bigint not null,
  policy_id bigint not null,
  agent_id text not null,
  task_id text not null,
  step bigint not null,
  at timestamptz(3) not null,
  log_id text,
  -- The platform evaluated the step itself; otherwise an engine alone has reported it so far.
  is_evaluated boolean not null,
  evaluation_id text,
  -- The answer to the first report of it; null while no engine has reported it.
  reported_as text check (reported_as in ('new', 'counted', 'known')),
  primary key (org_id, incident_id, number)
);
create index incident_occurrences_of_step on incident_occurrences (org_id, task_id, step, policy_id);
create index incident_occurrences_of_evaluation on incident_occurrences (org_id, evaluation_id, policy_id)
  where evaluation_id is not null;
select svc_isolate('incident_occurrences');

-- A violation belongs to the latest incident of its policy, agent and task that was opened by it or before it.
insert into incident_occurrences (org_id, incident_id, number, policy_id, agent_id, task_id, step, at, log_id, is_evaluated)
  select i.org_id, i.id, row_number() over (partition by i.org_id, i.id order by v.log_index), v.policy_id, i.agent_id,
    e.task_id, e.step, e.received_at, e.log_id, true
  from log_violations v
  join log_entries e on e.org_id = v.org_id and e.log_index = v.log_index
  cross join lateral (
    select n.org_id, n.id, n.agent_id from incidents n
    where n.org_id = v.org_id and n.policy_id = v.policy_id and n.agent_id = e.agent_id and n.task_id = e.task_id
      and n.first_seen <= e.received_at
    order by n.first_seen desc limit 1
  ) i
  where not v.waived;
`

const key = 'org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, manifest_id, policy_name'
const columns = `org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, coalesce(manifest_id, '') as manifest_id, policy_name`

/** Adds incidents, `n` each, to the counts; an occurrence that is counted changes none of them. */
const addCounts = (incidents: string) => /* sql */ `
    insert into incident_counts as c (${key}, incidents)
      select * from (select ${columns}, sum(i.n) as incidents from (${incidents}) i group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) d
      where d.incidents <> 0
    on conflict (${key}) do update set incidents = c.incidents + excluded.incidents;`

const counts = /* sql */ `
create table incident_counts (
  org_id text not null,
  policy_id bigint not null,
  agent_id text not null,
  state text not null,
  severity text not null,
  mode text not null,
  scope text not null,
  rule_type text not null,
  manifest_id text not null,
  policy_name text not null,
  incidents bigint not null,
  primary key (${key})
);
insert into incident_counts (${key}, incidents) select ${columns}, count(*) from incidents group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
select svc_isolate('incident_counts');

-- The database maintains the counts, in the transaction of each statement that changes incidents.
create function svc_count_incidents() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    ${addCounts('select *, 1 as n from after_change')}
  elsif tg_op = 'UPDATE' then
    ${addCounts('select *, 1 as n from after_change union all select *, -1 from before_change')}
  else
    ${addCounts('select *, -1 as n from before_change')}
    delete from incident_occurrences o using before_change b where o.org_id = b.org_id and o.incident_id = b.id;
  end if;
  return null;
end $$;
revoke execute on function svc_count_incidents() from public;
create trigger incident_counts_inserted after insert on incidents
  referencing new table as after_change for each statement execute function svc_count_incidents();
create trigger incident_counts_updated after update on incidents
  referencing old table as before_change new table as after_change for each statement execute function svc_count_incidents();
create trigger incident_counts_deleted after delete on incidents
  referencing old table as before_change for each statement execute function svc_count_incidents();
`

const lists = /* sql */ `
-- The index that orders incidents includes the columns that filter them, so that a filter which matches few incidents reads
-- no rows of the table but those of its page.
drop index incidents_written;
create index incidents_written on incidents (org_id, log_index)
  include (state, severity, agent_id, task_id, policy_id, policy_name, rule_type, manifest_id, scope, mode);
drop index incidents_of_severity;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(occurrences)
  await knex.raw(counts)
  await knex.raw(lists)
}
