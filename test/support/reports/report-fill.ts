// Fills the log of a platform with a million entries whose records are hashed as real ones are, for measurements of reports.
import { commitmentOfText } from '@svc/proof'
import { type Database, type Transaction, withTransaction } from '../../../platform/db/db.js'
import { newId } from '../../../platform/db/ids.js'
import type { Scope } from '../../../platform/db/scope.js'
import { insertIncidents } from '../../../platform/incidents/store/incidents.js'
import { recordEvents } from '../../../platform/ledger/events.js'

export interface Fill {
  /** Of the log, in the end. */
  readonly entries: number
  readonly agent_ids: readonly string[]
  /** Digest of the policy set of every step, and an id in it. */
  readonly policy_set: string
  readonly policy_id: number
}

/** Tasks have twenty steps; a tenth of the entries open an incident, which an event records too. */
const stepsOfTask = 20
const perBatch = 10_000
const incidentsAtOnce = 1000

/** Fills the log until now, from twenty days ago on. The platform must not run: it would sign the entries meanwhile. */
export async function fillForReports(db: Database, scope: Scope, fill: Fill): Promise<void> {
  const incidents = Math.floor(fill.entries / 10)
  const steps = fill.entries - 2 * incidents
  const begin = Date.now() - 20 * 86_400_000
  await db.pool.query('select svc_ensure_month($1), svc_ensure_month(now())', [new Date(begin).toISOString()])
  const every = (20 * 86_400_000 - 3_600_000) / steps
  for (let at = 0; at < steps; at += perBatch)
    await withTransaction(db, scope, (tx) =>
      addSteps(scope, tx, fill, begin, every, at, Math.min(perBatch, steps - at)),
    )
  for (let at = 0; at < incidents; at += incidentsAtOnce)
    await withTransaction(db, scope, (tx) =>
      addIncidents(scope, tx, fill, at, Math.min(incidentsAtOnce, incidents - at)),
    )
}

async function addSteps(
  scope: Scope,
  tx: Transaction,
  fill: Fill,
  begin: number,
  every: number,
  from: number,
  count: number,
) {
  const [log] = await tx.query<{ size: number }>('select size from org_log where org_id = $1 for update', [
    scope.org_id,
  ])
  const values = [
    scope.org_id,
    log?.size ?? 0,
    from,
    count,
    begin,
    every,
    fill.agent_ids,
    fill.policy_set,
    fill.policy_id,
    evaluationOf(fill.policy_id),
    commitmentOfText('evaluation', evaluationOf(fill.policy_id), Buffer.from(salt, 'hex')),
    salt,
  ]
  await tx.query(steps, values)
}

const salt = '5'.repeat(64)

/** Of every tenth step. */
function evaluationOf(policy_id: number): string {
  return `[{"code":"x","policy_id":${policy_id},"version":1,"violated":true}]`
}

const time = (expression: string) => `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const hex = (expression: string) => `encode(sha256(convert_to(${expression}, 'UTF8')), 'hex')`

const steps = /* sql */ `
with numbered as (
  select n, $2::bigint + n - $3::int as i, n / ${stepsOfTask} as t, n % ${stepsOfTask} + 1 as step,
    ($7::text[])[(n / ${stepsOfTask}) % cardinality($7::text[]) + 1] as agent_id,
    date_trunc('milliseconds', to_timestamp(($5::float8 + n * $6::float8) / 1000)) as at
  from generate_series($3::int, $3::int + $4::int - 1) n
), texts as (
  select *, 'task-' || t as task_id, case when step = 1 then 'task.start' when step = ${stepsOfTask} then 'task.end'
      when step % 3 = 0 then 'step.model' else 'step.resource' end as step_type, n % 10 = 3 as violates, ${hex(`'evaluation' || n`)} as e,
    ${hex(`'previous' || n`)} as previous, ${time('at')} as text_at from numbered
), records as (
  select *, '{"after":{"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"agent_id":"' || agent_id
    || '","api_key_id":"key","data":{"input":"' || e || '","output":"' || previous || '","properties":"' || e || '","step_name":"'
    || previous || '","verb":"' || e || '"},"evaluation":"' || case when violates then $11 else e end || '","has_write_permission":false,"is_external_call":false,"org_id":"'
    || $1 || '","policy_set":"' || $8 || '","prev_hash":"' || case when step = 1 then '' else previous end || '","received_at":"'
    || text_at || '","seq":' || step || ',"step":' || step || ',"step_type":"' || step_type || '","task_id":"' || task_id
    || '","timestamp":"' || text_at || '","type":"step","v":"svc.log/1"}' as record from texts
), hashed as (
  select *, encode(sha256('\\x00'::bytea || convert_to(record, 'UTF8')), 'hex') as hash from records
), entries as (
  insert into log_entries (org_id, log_index, received_at, log_id, agent_id, task_id, seq, step, step_type, timestamp, occurred_at,
      is_external_call, has_write_permission, prev_hash, client_prev_hash, api_key_id, policy_set, hash, record)
    select $1, i, at, 'log_' || i, agent_id, task_id, step, step, step_type, text_at, at, false, false,
      case when step = 1 then '' else previous end, null, 'key', $8, hash, record from hashed
), payloads as (
  insert into log_payloads (org_id, log_index, received_at, salts, body)
    select $1, i, at, '{"evaluation":"' || case when violates then $12 else e end || '","input":"' || e || '","output":"' || e || '"}',
      '{"evaluation":' || case when violates then $10 else '[{"code":null,"policy_id":1,"version":1,"violated":false}]' end || ',"input":{"text":"' || repeat('some words of a step ', 20)
      || '"},"output":{"text":"' || repeat('and of its answer ', 20) || n || '"}}' from hashed
), leaves as (
  insert into log_leaves (org_id, log_index, type, leaf_hash, received_at) select $1, i, 'step', hash, at from hashed
), violations as (
  insert into log_violations (org_id, log_index, policy_id, name, severity, mode, waived, manifest_id, details, task_id, seq)
    select $1, i, $9::bigint, p ->> 'name', p ->> 'severity', p ->> 'mode', false, null, '{"rule_type":"x","reason":"a reason"}', task_id, step
    from hashed, policy_sets s, json_array_elements(s.body::json) p
    where violates and s.org_id = $1 and s.digest = $8 and (p ->> 'id')::bigint = $9
), heads as (
  insert into task_heads (org_id, task_id, agent_id, seq, hash, first_log_index, last_log_index, min_step, max_step, first_ts, last_ts,
      first_received_at, last_received_at, has_end, has_error)
    select $1, task_id, min(agent_id), max(step), '', min(i), max(i), 1, max(step), '', '', min(at), max(at), true, false
    from hashed group by task_id
)
update org_log set size = $2::bigint + $4::int,
  last_received_at = date_trunc('milliseconds', to_timestamp(($5::float8 + ($3::int + $4::int - 1) * $6::float8) / 1000))
where org_id = $1`

async function addIncidents(
  scope: Scope,
  tx: Transaction,
  { agent_ids, policy_id }: Fill,
  from: number,
  count: number,
) {
  const now = Date.now() - 60_000
  const at = new Date(now).toISOString()
  const incidents = Array.from({ length: count }, (_, index) => {
    const agent_id = agent_ids[(from + index) % agent_ids.length] ?? ''
    const violation_details = {
      rule_type: 'x',
      code: 'c',
      reason: `a reason of some words ${from + index}`,
      evidence: [],
    }
    return {
      id: newId('inc', now),
      agent_id,
      task_id: `task-${from + index}`,
      log_id: null,
      step: 4,
      policy_id,
      scope: 'step_execution' as const,
      risk_score: 0.5,
      policy_name: 'a policy',
      rule_type: 'x',
      manifest_id: null,
      severity: (['low', 'medium', 'high', 'critical'] as const)[(from + index) % 4] ?? 'low',
      mode: 'enforce' as const,
      violation_details: violation_details as never,
      occurrences: 1,
      effect: 'executed' as const,
      effects: { blocked: 0, executed: 1, unknown: 0 },
      first_seen: at,
      last_seen: at,
    }
  })
  await insertIncidents(scope, tx, now, incidents)
  const event = ({ id, agent_id, task_id, severity }: (typeof incidents)[number]) => {
    const data = { policy_id, agent_id, task_id, severity }
    return { kind: 'incident.opened', subject_kind: 'incident', subject_id: id, data }
  }
  await recordEvents(scope, tx, now, incidents.map(event))
}
