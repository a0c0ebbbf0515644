import { isoTime, type LogEntry } from '@svc/schemas'
import { type Resources, withSnapshot } from '../../../db/db.js'
import { PlatformError } from '../../../errors.js'
import { cursorAfter, nextCursor, numberAfter, pageByIndex, pageOf } from '../../../http/paging.js'
import type { Query } from '../../../http/query.js'
import { byReader, parameters, route } from '../../../http/route.js'
import { approvalAt, readApprovals } from '../store/approvals.js'
import { readLog, readShown } from '../store/logs.js'
import { listTasks } from '../store/tasks.js'

const tag = 'Log'
const span = {
  from: parameters.time('at or after'),
  to: parameters.time('at or before'),
  q: parameters.text('prefix of the task_id'),
}

export const withApprovals = parameters.flag('with the approvals of each step, as agents reported them')

/** Positions of a task between a gate and a step that are compared: fewer than in a timeline, because the tasks are many. */
const maxApart = 50

export interface TaskParts extends Resources {
  /** A task without an end counts as unfinished after this many seconds. */
  readonly task_timeout_seconds: number
}

export const logRoutes = [
  route({
    method: 'get',
    path: '/api/v1/logs',
    summary: 'List entries: those of one task in order, others newest first',
    tag,
    access: byReader,
    query: {
      task_id: parameters.text('one task'),
      agent_id: parameters.text('one agent'),
      step_type: parameters.text('one type'),
      ...span,
      approvals: withApprovals,
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'log-list' },
    handle: async ({ scope, query }, parts: Resources) => {
      const page = pageOf(query)
      const logs = await withSnapshot(parts.db, scope, async (tx) => {
        const shown = await readShown(scope, tx, query, page.limit, numberAfter(page))
        const approvals = query.approvals === 'true' ? await readApprovals(scope, tx, shown, maxApart) : null
        return shown.map(({ entry }) => ({ ...entry, ...approvalAt(approvals, entry.log_index) }))
      })
      return { status: 200, body: { logs, next_cursor: nextCursor(logs, page.limit, keyIn(query)) } }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/logs/tasks',
    summary: 'List tasks with their status, latest first',
    tag,
    access: byReader,
    query: {
      skip: parameters.skip,
      limit: parameters.limit(100, 20),
      cursor: parameters.cursor,
      agent_id: parameters.text('one agent'),
      agent_key: parameters.text('agents with this key'),
      environment: parameters.text('environment of the agent'),
      unfinished: parameters.flag('no end within the timeout'),
      violating: parameters.flag('a step of it violates a policy'),
      status: parameters.choice('status', ['error', 'completed', 'running']),
      ...span,
      around: parameters.text('a task: the answer also has the ids of those `previous` and `next` to it'),
    },
    responses: { 200: 'task-list' },
    handle: async ({ scope, query }, parts: TaskParts) => {
      const page = { ...pageByIndex(query, 20), skip: Number(query.skip ?? 0) }
      const overdue = isoTime(parts.clock() - parts.task_timeout_seconds * 1000)
      const { last, ...found } = await withSnapshot(parts.db, scope, (tx) => listTasks(scope, tx, query, page, overdue))
      return { status: 200, body: { ...found, next_cursor: last === null ? null : cursorAfter(last) } }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/logs/{log_id}',
    summary: 'Get an entry with its record',
    tag,
    access: byReader,
    responses: { 200: 'log-detail' },
    handle: async ({ scope, params }, parts: Resources) => {
      const entry = await withSnapshot(parts.db, scope, (tx) => readLog(scope, tx, params.log_id))
      if (entry === null) throw new PlatformError('NOT_FOUND', 'no such entry')
      return { status: 200, body: entry }
    },
  }),
]

/** The cursor key of an entry: `seq` within one task, else the log index. */
function keyIn({ task_id }: Query): (entry: LogEntry) => number {
  return (entry) => (task_id === undefined ? entry.log_index : entry.seq)
}
