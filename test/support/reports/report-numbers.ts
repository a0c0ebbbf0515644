// The numbers of a report, computed by plain SQL over the tables: another way than that of the report.
import type { ReportPlan } from '../../../report/content/plan.js'
import type { ReportLog } from './report-log.js'

/** Entries of the period: `$2` and `$3` are its log indexes, `$4` is the chosen agents or null. */
const steps = `select e.*, case e.step_type when 'START_NODE' then 'task.start' when 'END_NODE' then 'task.end'
    when 'ERROR_NODE' then 'task.error' when 'LLM_CALL' then 'step.model' else e.step_type end as type
  from log_entries e where e.org_id = $1 and e.log_index >= $2 and e.log_index < $3
    and ($4::text[] is null or e.agent_id = any($4::text[]))`
const violations = `select v.*, s.agent_id, s.policy_set from log_violations v join steps s on s.log_index = v.log_index
  where v.org_id = $1`
const opened = `select i.* from incidents i where i.org_id = $1 and i.log_index >= $2 and i.log_index < $3
  and ($4::text[] is null or i.agent_id = any($4::text[]))`
const parts = `with steps as (${steps}), violations as (${violations}), opened as (${opened})`

type Row = Readonly<Record<string, unknown>>

/** The totals of the summary, of agents, of types of steps, and of policies by name. */
export async function sqlNumbers({ query, scope }: ReportLog, { agent_ids }: ReportPlan, first: number, end: number) {
  const values = [scope.org_id, first, end, agent_ids]
  const rows = <R = Row>(text: string) => query<R>(`${parts} ${text}`, values)
  const [summary] = await rows(
    `select (select count(*)::int from steps) as steps, (select count(distinct task_id)::int from steps) as tasks,
       (select count(distinct agent_id)::int from steps) as active_agents, (select count(*)::int from violations) as violations,
       (select count(*)::int from violations where mode = 'enforce' and not waived) as enforced,
       (select count(*)::int from violations where mode = 'observe' and not waived) as observed,
       (select count(*)::int from violations where waived) as waived,
       (select count(distinct log_index)::int from violations where mode = 'enforce' and not waived) as steps_in_violation,
       (select count(*)::int from opened) as incidents_opened,
       (select count(*)::int from opened where state = 'open') as incidents_unanswered,
       (select count(*)::int from violations where asks) + (select count(*)::int from given) as approvals_asked,
       (select count(*)::int from given) as approvals_given
     from (select 1) one, lateral (select 1) two`.replaceAll('from given', `from (${given}) given`),
  )
  return {
    summary,
    leaves: counts(
      await query(
        `select type as name, count(*)::int from log_leaves where org_id = $1 and log_index >= $2
      and log_index < $3 group by 1`,
        values.slice(0, 3),
      ),
    ),
    step_types: counts(await rows('select type as name, count(*)::int from steps group by 1')),
    agents: await rows(
      `select agent_id, count(*)::int as steps, count(distinct task_id)::int as tasks,
         (select count(*)::int from violations v where v.agent_id = s.agent_id) as violations,
         (select count(*)::int from opened o where o.agent_id = s.agent_id) as incidents
       from steps s group by agent_id order by agent_id`,
    ),
    policies: await rows(
      `select name, sum(steps)::int as steps, sum(violations)::int as violations from (
         select p.value->>'name' as name, p.value->>'manifest_sha' as sha, p.value->>'severity' as severity, p.value->>'mode' as mode,
           case when p.value->>'scope' = 'agent_registration' then 0 else sum(used.steps)::int end as steps,
           sum((select count(*) from violations v where v.policy_set = used.policy_set and v.policy_id = (p.value->>'id')::bigint))::int as violations
         from (select policy_set, count(*)::int as steps from steps group by 1) used
         join policy_sets d on d.org_id = $1 and d.digest = used.policy_set, json_array_elements(d.body::json) p
         group by 1, 2, 3, 4, p.value->>'scope') grouped group by 1 having sum(steps) + sum(violations) > 0 order by 1`,
    ),
    incidents: await rows('select severity, state, count(*)::int from opened group by 1, 2'),
    per_day: await rows(
      `select to_char(date_trunc('day', received_at at time zone 'UTC'), 'YYYY-MM-DD') as day, count(*)::int as steps
       from steps group by 1 order by 1`,
    ),
    events: counts(
      await query(
        `select kind as name, count(*)::int from events where org_id = $1 and log_index >= $2 and log_index < $3 group by 1`,
        values.slice(0, 3),
      ),
    ),
    seconds: await answerSeconds({ query }, values),
  }
}

const given = `select 1 from steps s join log_payloads p on p.org_id = $1 and p.log_index = s.log_index,
  json_array_elements((p.body::json)->'evaluation') r where p.body is not null and r.value->>'approved_by_step' is not null`

/** Seconds from the opening of each incident of the period to its first answer, and to its first resolution; ascending. */
async function answerSeconds({ query }: Pick<ReportLog, 'query'>, values: readonly unknown[]) {
  const rows = await query<{ review: number | null; resolution: number | null }>(
    `with opened as (${opened}), answers as (
       select o.id, v.kind, floor(extract(epoch from v.at - l.received_at))::int as seconds
       from opened o join log_leaves l on l.org_id = o.org_id and l.log_index = o.log_index
       join events v on v.org_id = o.org_id and v.subject_id = o.id and v.kind <> 'incident.opened')
     select id, min(seconds) as review, min(seconds) filter (where kind = 'incident.resolved') as resolution
     from answers group by id`,
    values,
  )
  const sorted = (name: 'review' | 'resolution') =>
    rows
      .map((row) => row[name])
      .filter((seconds) => seconds !== null)
      .sort((a, b) => a - b)
  return { review: sorted('review'), resolution: sorted('resolution') }
}

function counts(rows: readonly Row[]): Record<string, unknown> {
  return Object.fromEntries(rows.map(({ name, count }) => [String(name), count]))
}
