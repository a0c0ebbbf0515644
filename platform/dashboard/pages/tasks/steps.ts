// The steps of all tasks as a list: who approved what, which commands ran.
import type { LogEntry } from '@svc/schemas'
import { agentsOf } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { type Html, id, joined, link, text, time } from '../../views/html.js'
import { approvalOf } from './approvals.js'
import { contentOf } from './content.js'
import { tabs } from './tabs.js'

const steps: Listing<LogEntry> = {
  place: 'tasks',
  title: 'Steps',
  path: '/steps',
  schema: 'log-list',
  rows: 'logs',
  endpoint: '/api/v1/logs',
  always: { approvals: 'true' },
  limit: 30,
  above: async () => tabs('steps'),
  filters: [
    { kind: 'text', name: 'q', label: 'Task id begins with' },
    { kind: 'agent', typed: ['agent_id', 'Agent id'] },
    {
      kind: 'choice',
      name: 'step_type',
      label: 'Step type',
      values: [
        ['step.gate', 'approvals, checks'],
        ['step.exec', 'commands and code'],
        ['step.message', 'messages'],
        ['step.resource', 'reads and changes outside'],
        ['step.credential', 'secrets'],
        ['step.model', 'model calls'],
      ],
    },
    { kind: 'day', name: 'from', label: 'Received from (UTC)' },
    { kind: 'day', name: 'to', label: 'Received to (UTC)' },
  ],
  presets: [
    ['Approvals and checks', { step_type: 'step.gate' }],
    ['Commands and code', { step_type: 'step.exec' }],
    ['Messages', { step_type: 'step.message' }],
  ],
  columns: async (visit) => {
    const agents = await agentsOf(visit)
    return [
      { head: 'Step', cell: (step) => link(hrefOf(step), step.step_name ?? step.step_type) },
      { head: 'What', cell: whatOf },
      { head: 'Agent', cell: ({ agent_id }) => agents.link(agent_id) },
      { head: 'Task', cell: (step) => id(step.task_id, hrefOf(step)) },
      {
        head: 'Claimed and received',
        cell: ({ timestamp, received_at }) => joined([time(timestamp), time(received_at)], '<br>'),
      },
    ]
  },
  empty: 'No step was recorded yet. The overview shows the commands that bring the first step in.',
}

function whatOf(step: LogEntry): Html {
  const { what, summary } = contentOf(step)
  const approval = approvalOf(step.approval, (at) => hrefOf({ ...step, step: at }))
  const lines = [...[what, summary].filter((line) => line !== '').map(text), ...(approval === null ? [] : [approval])]
  return joined(lines, '<br>')
}

function hrefOf({ task_id, step }: Pick<LogEntry, 'task_id' | 'step'>): string {
  return `${paths.task(task_id, { around: step })}#step-${step}`
}

export const stepsPage = listPage(steps)
