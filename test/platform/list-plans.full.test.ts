// No page of a list reads a large table from end to end: every filter by what the planner says of it, as the role that serves
// requests, on either database.
import { describe, expect, it } from 'vitest'
import { migrate } from '../../platform/migrations/index.js'
import { openDatabase, type Transaction, withSnapshot, withUnscopedTransaction } from '../../platform/store/db.js'
import { listAgents, listEvents, listIncidents } from '../../platform/store/lists.js'
import { readLogs } from '../../platform/store/log-reads.js'
import { scopeOf } from '../../platform/store/scope.js'
import { listTasks } from '../../platform/store/tasks.js'
import { forEachDatabase } from '../support/postgres.js'

const org_id = 'org_00000000000000000000000000000001'
const scope = scopeOf(org_id, { kind: 'operator', id: 'local' })
const overdue = '2026-02-20T00:00:00.000Z'
const agent_id = 'ag_3'

type Run = (tx: Transaction) => Promise<unknown>
const logs =
  (filter: object, after: number | null = null): Run =>
  (tx) =>
    readLogs(scope, tx, filter, 200, after)
const tasks =
  (filter: object, skip = 0): Run =>
  (tx) =>
    listTasks(scope, tx, filter, { skip, limit: 100 }, overdue)
const list =
  (read: typeof listEvents | typeof listIncidents | typeof listAgents, filter: Record<string, string>): Run =>
  (tx) =>
    read(scope, tx, filter, { limit: 200, after: null })

const [from, to] = ['2026-01-20T00:00:00.000Z', '2026-01-21T00:00:00.000Z']
const filters: Record<string, readonly [string, Run][]> = {
  logs: [
    ['none', logs({})],
    ['a deep page', logs({}, 500)],
    ...[
      { step_type: 'step.model' },
      { step_type: 'step.credential' },
      { step_type: 'absent' },
      { agent_id },
      { agent_id, step_type: 'step.credential' },
      { agent_id, step_type: 'absent' },
      { task_id: 'run-100' },
      { task_id: 'run-100', step_type: 'step.model' },
      { from },
      { to },
      { from, to, step_type: 'step.credential' },
      { q: 'run-1' },
      { q: 'run-100' },
      { q: 'absent' },
      { q: 'run', step_type: 'step.credential' },
      { q: 'run', agent_id, from, to },
    ].map((filter): [string, Run] => [JSON.stringify(filter), logs(filter)]),
  ],
  tasks: [
    ['none', tasks({})],
    ['a deep page', tasks({}, 4000)],
    ...[
      { agent_id },
      { environment: 'test' },
      { status: 'error' },
      { status: 'completed' },
      { status: 'running' },
      { status: 'error', agent_id },
      { unfinished: 'true' },
      { unfinished: 'false' },
      { from },
      { to },
      { from, to },
      { q: 'run-1' },
      { q: 'run', status: 'error' },
      { q: 'absent' },
      { environment: 'test', status: 'running', from },
    ].map((filter): [string, Run] => [JSON.stringify(filter), tasks(filter)]),
  ],
  incidents: [
    {},
    { state: 'open' },
    { severity: 'critical' },
    { agent_id },
    { task_id: 'run-100' },
    { policy_id: '3' },
    { state: 'open', severity: 'low' },
  ].map((filter) => [JSON.stringify(filter), list(listIncidents, filter as Record<string, string>)]),
  events: [{}, { kind: 'rare' }, { actor: 'somebody' }, { subject: 'inc_7' }, { from, to }, { kind: 'common', to }].map(
    (filter) => [JSON.stringify(filter), list(listEvents, filter as Record<string, string>)],
  ),
  agents: [{}, { q: 'agent' }, { environment: 'test' }, { active: 'false' }, { risk_classification: 'high' }].map(
    (filter) => [JSON.stringify(filter), list(listAgents, filter as Record<string, string>)],
  ),
}

const fill = /* sql */ `
insert into organizations values ('${org_id}', 'A', 'shared', '2026-01-01');
insert into org_log (org_id, size, last_received_at) values ('${org_id}', 60000, '2026-03-01');
select svc_ensure_month('2026-01-01'), svc_ensure_month('2026-02-01');
insert into agents (org_id, agent_id, api_key_id, agent_key, sent, name, risk_classification, environment, attributes, active,
    version, created_at, updated_at)
  select '${org_id}', 'ag_' || n, 'key', 'agent-' || n, '{}', 'Agent ' || n, 'limited',
    case when n % 5 = 0 then 'test' else 'production' end, '{}', true, 1, '2026-01-01', '2026-01-01' from generate_series(0, 19) n;
create temp table e as select i, timestamptz '2026-01-01T00:00:00Z' + i * interval '100 seconds' as at, i / 10 as t, i % 10 + 1 as step
  from generate_series(0, 49999) i;
insert into log_entries select '${org_id}', i, at, 'log_' || i, 'ag_' || t % 20, 'run-' || t, step, step,
    case when step = 1 then 'START_NODE' when step = 10 and t % 50 > 0 then 'END_NODE' when i % 5005 = 5 then 'step.credential'
      else 'step.model' end, '2026-01-01T00:00:00Z', at, false, false, '', null, 'key', '', md5(i::text), repeat('r', 200) from e;
insert into log_payloads select '${org_id}', i, at, '{}', '{}' from e;
insert into log_leaves select '${org_id}', i, 'step', md5(i::text), at from e;
insert into task_heads (org_id, task_id, agent_id, seq, hash, first_log_index, last_log_index, max_step, first_ts, last_ts,
    first_received_at, last_received_at, has_end, has_error)
  select org_id, task_id, min(agent_id), 10, '', min(log_index), max(log_index), 10, '', '', min(received_at), max(received_at),
    bool_or(step_type = 'END_NODE'), min(log_index) % 990 = 0 from log_entries group by 1, 2;
insert into log_leaves select '${org_id}', 50000 + n, 'event', md5(n::text), timestamptz '2026-02-28' from generate_series(0, 9999) n;
insert into events (org_id, log_index, id, at, actor_kind, actor_id, kind, subject_kind, subject_id, data)
  select '${org_id}', 50000 + n, 'evt_' || n, '2026-02-28', 'system', case when n % 500 = 0 then 'somebody' else 'ingest' end,
    case when n % 900 = 0 then 'rare' else 'common' end, 'incident', 'inc_' || n % 5000, '{}' from generate_series(0, 9999) n;
insert into incidents (org_id, log_index, id, agent_id, task_id, policy_id, policy_name, rule_type, severity, scope, state, mode,
    risk_score, violation_details, occurrences, first_seen, last_seen)
  select org_id, first_log_index, 'inc_' || first_log_index / 10, agent_id, task_id, first_log_index / 10 % 15, 'p', 'not',
    case when first_log_index % 400 = 0 then 'critical' else 'low' end, 'step_execution',
    case when first_log_index % 300 = 0 then 'open' else 'resolved' end, 'enforce', 0.5, '{}', 1, '2026-01-01', '2026-01-01'
  from task_heads;
`

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

function scans(plan: Plan): string[] {
  const own = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...own, ...(plan.Plans ?? []).flatMap(scans)]
}

/** Tables that hold a few rows here, or are empty. */
const isSmall = (table: string) => /^(agents|org_log|task_counts)$|_(?!20260[12])\d{6}$/.test(table)

/** The same transaction, which also writes down what each statement reads from end to end. */
function explaining(tx: Transaction, found: string[]): Transaction {
  const explain = async (text: string, values?: readonly unknown[]) => {
    const [row] = await tx.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(`explain (format json) ${text}`, values)
    found.push(...(row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => scans(Plan)).filter((table) => !isSmall(table)))
  }
  return {
    query: async (text, values) => {
      if (!text.startsWith('set local')) await explain(text, values)
      return tx.query(text, values)
    },
  }
}

await forEachDatabase('lists', ({ fresh }) => {
  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    it('read no large table from end to end, whatever the filter', async () => {
      const db = await openDatabase(fresh())
      try {
        await migrate(db)
        await withUnscopedTransaction(db, (tx) => tx.query(fill))
        if (statistics === 'with statistics') await db.knex.raw('vacuum analyze')
        const read: [string, string, string[]][] = []
        for (const [name, cases] of Object.entries(filters))
          for (const [filter, run] of cases) {
            const found: string[] = []
            await withSnapshot(db, scope, (tx) => run(explaining(tx, found)))
            if (found.length > 0) read.push([name, filter, [...new Set(found)]])
          }
        expect(read).toEqual([])
      } finally {
        await db.close()
      }
    })
  })

  it('count tasks exactly, in whatever order they change', async () => {
    const db = await openDatabase(fresh())
    try {
      await migrate(db)
      await withUnscopedTransaction(db, (tx) => tx.query(fill))
      for (const sql of [
        'update task_heads set has_end = true where last_log_index % 70 = 9',
        "update task_heads set has_error = not has_error, agent_id = 'ag_1' where last_log_index % 110 = 9",
        'delete from task_heads where last_log_index % 130 = 9',
      ])
        await withUnscopedTransaction(db, (tx) => tx.query(sql))
      const [row] = await withUnscopedTransaction(db, (tx) =>
        tx.query<{ wrong: number }>(
          `with counted as (select agent_id, count(*) filter (where not has_end and not has_error) as running,
             count(*) filter (where has_end and not has_error) as completed, count(*) filter (where has_error) as failed
             from task_heads group by 1)
           select count(*)::int as wrong from counted full join task_counts c using (agent_id)
           where (counted.running, counted.completed, counted.failed) is distinct from (c.running, c.completed, c.failed)`,
        ),
      )
      expect(row?.wrong).toBe(0)
    } finally {
      await db.close()
    }
  })
})
