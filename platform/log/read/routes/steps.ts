import { isoTime } from '@svc/schemas'
import { withSnapshot } from '../../../db/db.js'
import { PlatformError } from '../../../errors.js'
import { cursorAfter, nextCursor, numberAfter, pageOf } from '../../../http/paging.js'
import { byReader, parameters, route } from '../../../http/route.js'
import { readTimeline } from '../store/steps.js'
import { type TaskParts, withApprovals } from './logs.js'

export const taskStepRoutes = [
  route({
    method: 'get',
    path: '/api/v1/tasks/{task_id}/steps',
    summary: 'List the steps of a task with their violations, in arrival order',
    tag: 'Tasks',
    access: byReader,
    query: {
      violating: parameters.flag('violates a policy'),
      kind: parameters.choice(
        '`tool`: without the life of the task, its models and its gates; `gate`: approvals and checks',
        ['tool', 'gate'],
      ),
      approvals: withApprovals,
      around: parameters.text('number of a step, or `log_id` of one: the page around it; not with `cursor`'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'task-timeline' },
    handle: async ({ scope, params, query }, parts: TaskParts) => {
      const page = pageOf(query)
      const at = { limit: page.limit, after: numberAfter(page) }
      const overdue = isoTime(parts.clock() - parts.task_timeout_seconds * 1000)
      const timeline = await withSnapshot(parts.db, scope, (tx) =>
        readTimeline(scope, tx, params.task_id, query, at, overdue),
      )
      if (timeline === null) throw new PlatformError('NOT_FOUND', 'no such task')
      const { before, ...body } = timeline
      const previous_cursor = before === null ? null : cursorAfter(before)
      const next_cursor = nextCursor(body.steps, page.limit, ({ seq }) => seq)
      return { status: 200, body: { ...body, previous_cursor, next_cursor } }
    },
  }),
]
