// Whether the step of an occurrence ran, and how many occurrences of an incident did (docs/adr/0060-effects.md).
import type { Knex } from 'knex'

export { down } from './irreversible.js'

const occurrences = /* sql */ `
alter table incident_occurrences add column effect text not null default 'unknown'
  check (effect in ('blocked', 'executed', 'unknown'));

-- Of earlier rows: from the recorded step, where the log has it with its payload. A payload with a character that the database
-- cannot read in JSON stays unknown. A registration took place, whatever it violated.
update incident_occurrences o set effect = s.effect
from (
  select o.org_id, o.incident_id, o.number, case
      when o.reported_reason = 'executed_although_blocked' or o.is_evaluated and o.task_id = '' then 'executed'
      when p.body is null then 'unknown'
      when position('"status":"blocked"' in p.body) = 0 then 'executed'
      when p.body ~* '\\\\u(0000|d[89a-f])' then 'unknown'
      when p.body::json #>> '{output,status}' = 'blocked' then 'blocked'
      else 'executed'
    end as effect
  from incident_occurrences o
  left join log_entries e on e.org_id = o.org_id and e.task_id = o.task_id and e.step = o.step and e.log_id = o.log_id
  left join log_payloads p on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at
) s
where o.org_id = s.org_id and o.incident_id = s.incident_id and o.number = s.number and s.effect <> 'unknown';
`

/** The triggers would count each changed row. */
const withoutTriggers = /* sql */ `
drop trigger incident_counts_inserted on incidents;
drop trigger incident_counts_updated on incidents;
drop trigger incident_counts_deleted on incidents;
`

const incidents = /* sql */ `
-- Occurrences by effect; of the others it is not known.
alter table incidents add column blocked integer not null default 0, add column executed integer not null default 0;
update incidents i set blocked = o.blocked, executed = o.executed
from (
  select org_id, incident_id, count(*) filter (where effect = 'blocked') as blocked,
    count(*) filter (where effect = 'executed') as executed
  from incident_occurrences where effect <> 'unknown' group by 1, 2
) o
where i.org_id = o.org_id and i.id = o.incident_id;

-- The worst one: what ran, then what may have run.
alter table incidents add column effect text not null generated always as (
  case when executed > 0 then 'executed' when blocked < occurrences then 'unknown' else 'blocked' end) stored;

drop index incidents_written;
create index incidents_written on incidents (org_id, log_index)
  include (state, severity, agent_id, task_id, policy_id, policy_name, rule_type, manifest_id, scope, mode, effect);
`

const key = 'org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, manifest_id, policy_name, effect'
const columns = `org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, coalesce(manifest_id, '') as manifest_id, policy_name, effect`
const grouped = '1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11'

/** Adds incidents, `n` each, to the counts; an occurrence that leaves the effect as it is changes none of them. */
const addCounts = (rows: string) => /* sql */ `
    insert into incident_counts as c (${key}, incidents)
      select * from (select ${columns}, sum(i.n) as incidents from (${rows}) i group by ${grouped}) d
      where d.incidents <> 0
    on conflict (${key}) do update set incidents = c.incidents + excluded.incidents;`

const counts = /* sql */ `
alter table incident_counts drop constraint incident_counts_pkey;
delete from incident_counts;
alter table incident_counts add column effect text not null;
alter table incident_counts add primary key (${key});
insert into incident_counts (${key}, incidents) select ${columns}, count(*) from incidents group by ${grouped};

create or replace function svc_count_incidents() returns trigger language plpgsql as $$
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
create trigger incident_counts_inserted after insert on incidents
  referencing new table as after_change for each statement execute function svc_count_incidents();
create trigger incident_counts_updated after update on incidents
  referencing old table as before_change new table as after_change for each statement execute function svc_count_incidents();
create trigger incident_counts_deleted after delete on incidents
  referencing old table as before_change for each statement execute function svc_count_incidents();
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(occurrences)
  await knex.raw(withoutTriggers)
  await knex.raw(incidents)
  await knex.raw(counts)
}
