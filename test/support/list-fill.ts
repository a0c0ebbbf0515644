// Fills the tables of a platform with a large unsigned log for tests of lists.

/**
 * SQL that fills the log of an organization from log index `first`: entries over fifty days in tasks of `steps` steps, and then
 * 10,000 events.
 */
export const entriesOf = (org_id: string, entries: number, steps: number, first = 0) => /* sql */ `
update org_log set size = ${first + entries + 10_000} where org_id = '${org_id}';
select svc_ensure_month('2026-01-01'), svc_ensure_month('2026-02-01');
insert into agents (org_id, agent_id, api_key_id, agent_key, sent, name, risk_classification, environment, attributes, active,
    version, created_at, updated_at)
  select '${org_id}', 'ag_' || n, 'key', 'agent-' || n, '{}', 'Agent ' || n, 'limited',
    case when n % 5 = 0 then 'test' else 'production' end, '{}', true, 1, '2026-01-01', '2026-01-01' from generate_series(0, 19) n;
create temp table e as select n + ${first} as i, n / ${steps} as t, n % ${steps} + 1 as step,
    timestamptz '2026-01-01T00:00:00Z' + n * interval '${5_000_000 / entries} seconds' as at from generate_series(0, ${entries - 1}) n;
insert into log_entries select '${org_id}', i, at, 'log_' || i, 'ag_' || t % 20, 'run-' || t, step, step,
    case when step = 1 then 'START_NODE' when step = ${steps} and t % 50 > 0 then 'END_NODE' when i % 5005 = 5 then 'step.credential'
      else 'step.model' end, '2026-01-01T00:00:00Z', at, false, false, '', null, 'key', '', md5(i::text), repeat('r', 200) from e;
insert into log_payloads select '${org_id}', i, at, '{}', '{}' from e;
insert into log_leaves select '${org_id}', i, 'step', md5(i::text), at from e;
insert into task_heads (org_id, task_id, agent_id, seq, hash, first_log_index, last_log_index, max_step, first_ts, last_ts,
    first_received_at, last_received_at, has_end, has_error)
  select org_id, task_id, min(agent_id), ${steps}, '', min(log_index), max(log_index), ${steps}, '', '', min(received_at), max(received_at),
    bool_or(step_type = 'END_NODE'), (min(log_index) - ${first}) % 990 = 0 from log_entries group by 1, 2;
insert into log_leaves select '${org_id}', ${first + entries} + n, 'event', md5(n::text), timestamptz '2026-02-28' from generate_series(0, 9999) n;
insert into events (org_id, log_index, id, at, actor_kind, actor_id, kind, subject_kind, subject_id, data)
  select '${org_id}', ${first + entries} + n, 'evt_' || n, '2026-02-28', 'system', case when n % 500 = 0 then 'rare-actor' else 'ingest' end,
    case when n % 900 = 0 then 'rare' else 'common' end, 'incident', 'inc_' || n % 5000, '{}' from generate_series(0, 9999) n;
insert into incidents (org_id, log_index, id, agent_id, task_id, policy_id, policy_name, rule_type, severity, scope, state, mode,
    risk_score, violation_details, occurrences, first_seen, last_seen)
  select org_id, first_log_index, 'inc_' || (first_log_index - ${first}) / ${steps}, agent_id, task_id, (first_log_index - ${first}) / ${steps} % 15, 'p', 'not',
    case when (first_log_index - ${first}) % 400 = 0 then 'critical' else 'low' end, 'step_execution',
    case when (first_log_index - ${first}) % 300 = 0 then 'open' else 'resolved' end, 'enforce', 0.5, '{}', 1, '2026-01-01', '2026-01-01'
  from task_heads;
insert into policies (org_id, id, name, rule_type, params, scope, severity, agent_id, enabled, mode, controls, version, manifest_id,
    created_at, updated_at, deleted_at)
  select '${org_id}', n, 'policy ' || n, case when n % 900 = 0 then 'rare' else 'not' end, '{}', 'step_execution',
    case when n % 40 = 0 then 'critical' else 'low' end, case when n % 30 > 0 then 'ag_' || n % 20 end, n % 7 > 0,
    case when n % 50 = 0 then 'observe' else 'enforce' end, '{}', 1, case when n % 30 > 0 then 'man_' || n % 90 end, '2026-01-01',
    '2026-01-01', case when n % 700 = 0 then timestamptz '2026-01-02' end
  from generate_series(1, 20000) n;
`
