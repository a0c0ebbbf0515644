// Lists as people filter them, over a log that is large enough for its plans to matter.
import type { Transaction } from '../../platform/store/db.js'
import { listAgents, listEvents, listIncidents } from '../../platform/store/lists.js'
import { readLogs } from '../../platform/store/log-reads.js'
import { scopeOf } from '../../platform/store/scope.js'
import { listTasks } from '../../platform/store/tasks.js'

export const org_id = 'org_00000000000000000000000000000001'
export const scope = scopeOf(org_id, { kind: 'operator', id: 'local' })
const overdue = '2026-02-20T00:00:00.000Z'
const agent_id = 'ag_3'

export type Run = (tx: Transaction) => Promise<unknown>
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
/** Every list with filters that find many, few and none. */
export const filters: Record<string, readonly [string, Run][]> = {
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
