// The list of tasks.
import type { TaskSummary } from '@svc/schemas'
import { agentLink } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, id, joined, nothing, number, state, text, time } from '../../views/html.js'
import { tabs } from './tabs.js'

export const tasks: Listing<TaskSummary> = {
  place: 'tasks',
  title: 'Tasks',
  path: '/tasks',
  schema: 'task-list',
  rows: 'tasks',
  endpoint: '/api/v1/logs/tasks',
  limit: 20,
  skips: true,
  above: async () => tabs('tasks'),
  filters: [
    { kind: 'text', name: 'q', label: 'Task id begins with' },
    { kind: 'agent', typed: ['agent_key', 'Agent key'] },
    { kind: 'choice', name: 'status', label: 'Status', values: ['error', 'completed', 'running'] },
    {
      kind: 'choice',
      name: 'environment',
      label: 'Environment',
      values: ['production', 'staging', 'test', 'development'],
    },
    { kind: 'day', name: 'from', label: 'From (UTC)' },
    { kind: 'day', name: 'to', label: 'To (UTC)' },
  ],
  presets: [
    ['With violations', { violating: 'true' }],
    ['Ended in an error', { status: 'error' }],
    ['Without an end', { unfinished: 'true' }],
    ['In production', { environment: 'production' }],
  ],
  columns: [
    { head: 'Task', cell: ({ task_id }, filter) => id(task_id, paths.task(task_id, filter)) },
    { head: 'Agent', cell: agentLink },
    { head: 'Environment', cell: ({ environment }) => text(environment) },
    {
      head: 'Status',
      cell: ({ status, unfinished }) => joined([state(status), unfinished ? badge('no end', 'yellow') : nothing]),
    },
    { head: 'Steps', cell: ({ step_count }) => text(number(step_count)), numeric: true },
    { head: 'Violations', cell: ({ violations }) => text(violations === 0 ? '' : number(violations)), numeric: true },
    { head: 'First step', cell: ({ first_ts }) => time(first_ts) },
    { head: 'Last step', cell: ({ last_ts }) => time(last_ts) },
  ],
  empty: 'No task was recorded yet. The overview shows the commands that bring the first step in.',
}

export const tasksPage = listPage(tasks)
