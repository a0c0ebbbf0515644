// Query plans of lists: no page reads a large table from end to end, for every filter, as the role that serves requests, on
// either database.
import { describe, expect, it } from 'vitest'
import { listAgents } from '../../../platform/agents/store/agents.js'
import { openDatabase, type Transaction, withSnapshot, withUnscopedTransaction } from '../../../platform/db/db.js'
import { migrate } from '../../../platform/db/migrations/index.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { listIncidents } from '../../../platform/incidents/store/list-incidents.js'
import { listEvents } from '../../../platform/log/read/store/events.js'
import { readLogs } from '../../../platform/log/read/store/logs.js'
import { listTasks } from '../../../platform/log/read/store/tasks.js'
import { listPolicies } from '../../../platform/policies/store/policies.js'
import { entriesOf } from '../../support/list-fill.js'
import { forEachDatabase } from '../../support/postgres.js'

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
  (
    read: typeof listEvents | typeof listIncidents | typeof listAgents | typeof listPolicies,
    filter: Record<string, string>,
  ): Run =>
  (tx) =>
    read(scope, tx, filter, { limit: 200, after: null })

const [from, to] = ['2026-01-20T00:00:00.000Z', '2026-01-21T00:00:00.000Z']
/** Every list with filters that match many rows, few rows and no rows. */
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
    { state: 'open,active' },
    { min_severity: 'high' },
    { manifest_id: 'absent' },
    { rule_type: 'not', mode: 'enforce', scope: 'step_execution' },
    { q: 'p' },
    { q: 'absent' },
    { from, to },
    { from, state: 'open', agent_id },
    { to, policy_id: '3', severity: 'critical' },
    { task_id: 'run-100', state: 'open', from },
  ].map((filter) => [JSON.stringify(filter), list(listIncidents, filter as Record<string, string>)]),
  events: [
    {},
    { kind: 'rare' },
    { actor: 'rare-actor' },
    { subject: 'inc_7' },
    { from, to },
    { kind: 'common', to },
  ].map((filter) => [JSON.stringify(filter), list(listEvents, filter as Record<string, string>)]),
  policies: [
    {},
    { agent_id },
    { source: 'hand' },
    { source: 'manifest' },
    { manifest_id: 'man_7' },
    { rule_type: 'rare' },
    { deleted: 'true' },
    { enabled: 'false' },
    { mode: 'observe' },
    { severity: 'critical' },
    { risk_classification: 'high' },
    { scope: 'agent_registration' },
    { q: 'policy 19' },
    { q: 'absent', agent_id, mode: 'enforce' },
  ].map((filter) => [JSON.stringify(filter), list(listPolicies, filter as Record<string, string>)]),
  agents: [{}, { q: 'agent' }, { environment: 'test' }, { active: 'false' }, { risk_classification: 'high' }].map(
    (filter) => [JSON.stringify(filter), list(listAgents, filter as Record<string, string>)],
  ),
}

const fill = /* sql */ `
insert into organizations values ('${org_id}', 'A', 'shared', '2026-01-01');
insert into org_log (org_id, size, last_received_at) values ('${org_id}', 0, '2026-03-01');
${entriesOf(org_id, 50_000, 10)}`

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

function scans(plan: Plan): string[] {
  const own = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...own, ...(plan.Plans ?? []).flatMap(scans)]
}

/** Tables with few rows in this test. */
const isSmall = (table: string) => /^(agents|org_log|task_counts|incident_counts)$|_(?!20260[12])\d{6}$/.test(table)

/** A transaction that also records the tables that each statement reads from end to end. */
function explaining(tx: Transaction, found: string[]): Transaction {
  const explain = async (text: string, values?: readonly unknown[]) => {
    const [row] = await tx.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(`explain (format json) ${text}`, values)
    found.push(...(row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => scans(Plan)).filter((table) => !isSmall(table)))
  }
  return {
    ...tx,
    query: async (text, values) => {
      if (!text.startsWith('set local')) await explain(text, values)
      return tx.query(text, values)
    },
  }
}

await forEachDatabase('lists', ({ fresh }) => {
  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    it('read no large table from end to end, for any filter', async () => {
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

  it('count tasks exactly after changes in any order', async () => {
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
