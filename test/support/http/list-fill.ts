// Fills the tables of a platform with a large unsigned log for tests of lists.

interface Sizes {
  readonly agents: number
  readonly events: number
  /** One or two. */
  readonly incidents_per_task: number
}

/**
 * SQL that fills the log of an organization from log index `first`: entries over fifty days in tasks of `steps` steps, and then
 * events.
 */
export const entriesOf = (
  org_id: string,
  entries: number,
  steps: number,
  first = 0,
  { agents, events, incidents_per_task }: Sizes = { agents: 20, events: 10_000, incidents_per_task: 1 },
) => /* sql */ `
update org_log set size = ${first + entries + events} where org_id = '${org_id}';
select svc_ensure_month('2026-01-01'), svc_ensure_month('2026-02-01');
insert into agents (org_id, agent_id, api_key_id, agent_key, sent, name, risk_classification, environment, attributes, active,
    version, created_at, updated_at)
  select '${org_id}', 'ag_' || n, 'key', 'agent-' || n, '{}', 'Agent ' || n, 'limited',
    case when n % 5 = 0 then 'test' else 'production' end, '{}', true, 1, '2026-01-01', '2026-01-01' from generate_series(0, ${agents - 1}) n;
create temp table e as select n + ${first} as i, n / ${steps} as t, n % ${steps} + 1 as step,
    timestamptz '2026-01-01T00:00:00Z' + n * interval '${5_000_000 / entries} seconds' as at from generate_series(0, ${entries - 1}) n;
insert into log_entries select '${org_id}', i, at, 'log_' || i, 'ag_' || t % ${agents}, 'run-' || t, step, step,
    case when step = 1 then 'START_NODE' when step = ${steps} and t % 50 > 0 then 'END_NODE' when i % 5005 = 5 then 'step.credential'
      else 'step.model' end, '2026-01-01T00:00:00Z', at, false, false, '', null, 'key', '', md5(i::text), repeat('r', 200) from e;
insert into log_payloads select '${org_id}', i, at, '{}', '{}' from e;
insert into log_leaves select '${org_id}', i, 'step', md5(i::text), at from e;
insert into task_heads (org_id, task_id, agent_id, seq, hash, first_log_index, last_log_index, max_step, first_ts, last_ts,
    first_received_at, last_received_at, has_end, has_error, violations)
  select org_id, task_id, min(agent_id), ${steps}, '', min(log_index), max(log_index), ${steps}, '', '', min(received_at), max(received_at),
    bool_or(step_type = 'END_NODE'), (min(log_index) - ${first}) % 990 = 0, count(*) filter (where log_index % 70 = 3) from log_entries group by 1, 2;
insert into log_violations (org_id, log_index, policy_id, name, severity, mode, waived, details, task_id, seq)
  select '${org_id}', i, 3, 'p', 'low', 'enforce', false, '{"code":"x","reason":"a reason","rule_type":"not","params":{},"evidence":[],"remedy":null}',
    'run-' || t, step from e where i % 70 = 3;
insert into log_leaves select '${org_id}', ${first + entries} + n, 'event', md5(n::text), timestamptz '2026-02-28' from generate_series(0, ${events - 1}) n;
insert into events (org_id, log_index, id, at, actor_kind, actor_id, kind, subject_kind, subject_id, data)
  select '${org_id}', ${first + entries} + n, 'evt_' || n, '2026-02-28', 'system', case when n % 500 = 0 then 'rare-actor' else 'ingest' end,
    case when n % 900 = 0 then 'rare' else 'common' end, 'incident', 'inc_' || n % 5000, '{}' from generate_series(0, ${events - 1}) n;
insert into incidents (org_id, log_index, id, agent_id, task_id, policy_id, policy_name, rule_type, severity, scope, state, mode,
    risk_score, violation_details, code, occurrences, blocked, executed, first_seen, last_seen, step, reviewed_by)
  select org_id, first_log_index + k, 'inc_' || ((first_log_index - ${first}) / ${steps} + k * 1000000), agent_id, task_id,
    ((first_log_index - ${first}) / ${steps} + k) % 15, 'p', 'not',
    case when (first_log_index - ${first}) % 400 = 0 then 'critical' else 'low' end, 'step_execution',
    case when (first_log_index - ${first}) % 300 = 0 then 'open' else 'resolved' end, 'enforce', 0.5, '{"code":"x","reason":"r","rule_type":"not","params":{},"evidence":[],"remedy":null}', 'CODE_' || ((first_log_index - ${first}) / ${steps} + k) % 4, 1, ((first_log_index - ${first}) % 700 > 0)::int, ((first_log_index - ${first}) % 700 = 0)::int, '2026-01-01', '2026-01-01', 1,
    case when (first_log_index - ${first}) % 900 = 0 then 'person:usr_1' when (first_log_index - ${first}) % 20 = 0 then 'person:usr_2' end
  from task_heads, generate_series(0, ${incidents_per_task - 1}) k;
drop table e;
`

/** SQL that fills the other lists of an organization, for agents that `entriesOf` made. Ids begin at 1,000. */
export const othersOf = (
  org_id: string,
  { policies, few }: { readonly policies: number; readonly few: number },
) => /* sql */ `
insert into policies (org_id, id, assignment_id, name, rule_type, params, scope, severity, agent_id, enabled, mode, controls, version,
    manifest_id, created_at, updated_at, deleted_at)
  select '${org_id}', 1000 + n, 1000 + n / 10, 'Policy ' || n, case when n % 900 = 0 then 'rare' else 'not' end, '{}',
    (array['step_execution', 'task_execution', 'agent_registration'])[1 + n % 3], (array['low', 'medium', 'high', 'critical'])[1 + n % 4],
    case when n % 100 > 0 then 'ag_' || n % ${few} end, n % 4 > 0, case when n % 50 = 0 then 'observe' else 'enforce' end, '{}', 1,
    case when n % 30 > 0 then 'man_' || n % 90 end, '2026-01-01', '2026-01-01', case when n % 700 = 0 then timestamptz '2026-01-02' end
  from generate_series(1, ${policies}) n;
insert into assignments (org_id, id, agent_id, repo_id, manifest_path, manifest_sha, manifest_name, manifest_id, waivers, status, created_at)
  select '${org_id}', 1000 + n, 'ag_' || n % ${few}, 1000 + n % 50, 'm-' || n || '.yaml', 'sha', 'm', 'man_' || n, '[]', 'synced', '2026-01-01'
  from generate_series(1, ${few} * 2) n;
insert into repositories (org_id, id, provider, owner, name, branch, visibility, status, created_at)
  select '${org_id}', 1000 + n, case when n % 5 = 0 then 'git' else 'github' end, 'owner', 'repo-' || n, 'main', 'public',
    case when n % 20 = 0 then 'degraded' else 'synced' end, '2026-01-01' from generate_series(1, ${few}) n;
insert into repository_files (org_id, repo_id, path, blob_sha, size, name, policies, valid, findings, manifest)
  select '${org_id}', 1000 + n % ${few} + 1, 'm-' || n || '.yaml', 'sha', 100, 'm', 3, n % 50 > 0, '[]', true from generate_series(1, ${few} * 20) n;
insert into reports (org_id, id, number, format, period_from, period_to, cut_off, root, status, requested_by, created_at)
  select '${org_id}', 'rep_' || n, n, (array['pdf', 'xml', 'json'])[1 + n % 3], '2026-01-01', '2026-02-01', 1, 'root',
    case when n % 50 = 0 then 'failed' else 'ready' end, 'usr_1', '2026-02-01' from generate_series(1, ${few} * 2) n;
insert into erasures (org_id, id, task_id, legal_basis, erased_by, erased_at, entries, tasks)
  select '${org_id}', 'ers_' || lpad(n::text, 9, '0'), 'run-' || n, 'consent', 'person:p', '2026-02-01', 1, 1 from generate_series(1, ${few} * 2) n;
insert into holds (org_id, id, task_id, reason, placed_by, placed_at, released_by, released_at)
  select '${org_id}', 'hld_' || lpad(n::text, 9, '0'), 'run-' || n, 'case', 'person:p', '2026-02-01',
    case when n % 2 = 0 then 'person:p' end, case when n % 2 = 0 then timestamptz '2026-02-02' end from generate_series(1, ${few} * 2) n;
insert into engine_intervals (org_id, agent_id, instance_id, since, load_state, policy_count, version, last_seen_at, log_index, seen_from)
  select '${org_id}', 'ag_3', 'instance-' || n % 10, at, case when n % 20 = 0 then 'unavailable' else 'enforcing' end, 5, '1.0.0',
    at + interval '1 minute', -1000000 - n, at
  from (select n, timestamptz '2026-02-20' + n * interval '2 minutes' as at from generate_series(1, ${few} * 5) n) i;
insert into engine_runs (org_id, agent_id, instance_id, load_state, policy_count, version, since, first_seen_at, state_seen_at, last_seen_at, ended)
  select '${org_id}', 'ag_' || n % ${few}, 'run-' || n / ${few}, case when n % 30 = 0 then 'all_dropped' else 'enforcing' end, 5, '1.0.0',
    '2026-02-28', '2026-02-28', at, at, n % 5 = 0
  from (select n, timestamptz '2026-03-01' - (n % 7) * interval '1 minute' as at from generate_series(0, ${few} * 2 - 1) n) i;
insert into agent_engines (org_id, agent_id, enforces_from, enforces_until)
  select '${org_id}', 'ag_' || n, '-infinity', timestamptz '2026-03-01' + (n % 5 - 2) * interval '1 minute' from generate_series(0, ${few} - 1) n;
insert into people (person_id, email, name, created_at)
  select 'usr_' || n, 'person-' || n || '@example.org', 'P', '2026-01-01' from generate_series(1, ${few}) n;
insert into memberships (org_id, person_id, role, joined_at) select '${org_id}', 'usr_' || n, case when n = 1 then 'admin' else 'member' end, '2026-01-01' from generate_series(1, ${few}) n;
insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at)
  select '${org_id}', 'key_' || n, decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), 'k', '{read}', '2026-01-01' from generate_series(1, ${few}) n;
insert into actions (org_id, id, name, triggers, kind, config, enabled, created_at, created_by, updated_at)
  select '${org_id}', 'act_' || n, 'Action ' || n, '{incident.created}', (array['webhook', 'email', 'slack'])[1 + n % 3], '{}', n % 4 > 0,
    '2026-01-01', 'person:p', '2026-01-01' from generate_series(1, ${few}) n;
insert into deliveries (org_id, position, id, action_id, type, subject_kind, subject_id, body, state, created_at, next_attempt_at)
  select '${org_id}', n, 'dlv_' || n, 'act_3', 'incident.created', 'incident', 'inc_' || n, '{}',
    (array['delivered', 'pending', 'dead', 'cancelled'])[1 + n % 4], '2026-01-01', '2026-01-01' from generate_series(1, ${few} * 10) n;
insert into incident_occurrences (org_id, incident_id, number, policy_id, agent_id, task_id, step, at, is_evaluated)
  select '${org_id}', 'inc_7', n, 7, 'ag_7', 'run-7', n, '2026-01-01', n % 9 > 0 from generate_series(1, ${few} * 10) n;
insert into stops (org_id, id, target_kind, target_id, reason, state, created_at, created_by, from_index, policy_id)
  select '${org_id}', 'stp_' || lpad(n::text, 9, '0'), case when n % 9 = 0 then 'manifest' else 'agent' end,
    case when n % 9 = 0 then 'man_' else 'ag_' end || n % 100, 'r', case when n % 5 = 0 then 'stopped' else 'resumed' end, '2026-01-01',
    'person:p', 1, 1000 + n from generate_series(1, ${few}) n;
insert into unmapped_spans (org_id, digest, api_key_id, service, name, kind, count, first_seen, last_seen, trace_id, span_id)
  select '${org_id}', decode(md5(n::text), 'hex'), 'key', 'shop', 'GET ' || n, 'client', n, '2026-01-01', '2026-02-01', 't', 's'
  from generate_series(1, ${few}) n;
`
