// `svc tasks` and `svc task`: the recorded tasks of the workspace, and the steps of one.
import {
  canonicalType,
  type Incident,
  type LogEntry,
  type TaskList,
  type TaskSummary,
  type Verification,
} from '@svc/schemas'
import { UsageError } from '../errors.js'
import { agentKeys, agentOf } from './agent-names.js'
import { minute } from './agent-text.js'
import { allRows } from './all-rows.js'
import type { Client } from './client.js'
import { columnsOf, rowsWithNotes } from './columns.js'
import { memberCommands, type Output, type Subcommand } from './subcommand.js'
import { table } from './table.js'
import { endOption, timeOption } from './time-option.js'

type Options = Readonly<Record<string, string>>

const subcommands: readonly (Subcommand & { readonly examples: readonly string[] })[] = [
  {
    call: 'tasks',
    description: 'list the recorded tasks, latest first',
    options: [
      ['--agent <agent>', 'of one agent, by its key or id'],
      ['--status <status>', 'running, completed or error'],
      ['--unfinished', 'that have no end although their time is over'],
      ['--from <time>', 'with a step in this time, such as 2026-01-01'],
      ['--to <time>', 'end of this time: a day, which is included, or a time'],
      ['--limit <number>', 'how many at most', '20'],
    ],
    choices: { status: ['running', 'completed', 'error'] },
    examples: ['tasks --agent refund-desk', 'tasks --status error --from 2026-01-01 --json'],
    run: listTasks,
  },
  {
    call: 'task <what> <task>',
    description:
      'show the steps of a task in the order of arrival, with the incidents of each and whether its record is whole',
    choices: { what: ['show'] },
    examples: ['task show refund-1', 'task show refund-1 --json'],
    run: (client, [, id = '']) => showTask(client, id),
  },
]

export const taskCommands = memberCommands(subcommands)

const taskColumns = [
  { heading: 'TASK', least: 12 },
  { heading: 'AGENT', least: 8 },
  { heading: 'STATUS' },
  { heading: 'STEPS' },
  { heading: 'FIRST STEP' },
  { heading: 'LAST STEP' },
] as const

const maxPage = 100

async function listTasks(client: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { agent, status, unfinished, limit = '' } = options
  if (!/^[1-9]\d{0,4}$/.test(limit))
    throw new UsageError(`\`--limit\` is \`${limit}\`: write a whole number from 1 to 99999`)
  const given = {
    ...(agent !== undefined && { agent_id: (await agentOf(client, agent)).agent_id }),
    ...(status !== undefined && { status }),
    ...(unfinished !== undefined && { unfinished: 'true' }),
    from: timeOption('--from', options.from),
    to: endOption('--to', options.to),
  }
  const query = Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined)
  const json = await pagesOf(client, query, Number(limit))
  if (json.tasks.length === 0) return { lines: ['no task matches'], json }
  const keys = await agentKeys(client)
  const rows = json.tasks.map((task) => taskRow(task, keys))
  const left = json.total - rows.length
  return {
    lines: [
      ...columnsOf(client, taskColumns, rows),
      ...(left > 0 ? [`${left} more: add \`--limit ${json.total}\``] : []),
    ],
    json,
  }
}

async function pagesOf({ get }: Client, query: readonly [string, string][], limit: number): Promise<TaskList> {
  const tasks: TaskSummary[] = []
  for (let cursor = ''; ; ) {
    const page = { limit: `${Math.min(maxPage, limit - tasks.length)}`, ...(cursor !== '' && { cursor }) }
    const found = await get<TaskList>(`/api/v1/logs/tasks?${new URLSearchParams([...query, ...Object.entries(page)])}`)
    tasks.push(...found.tasks)
    if (found.next_cursor === null || tasks.length >= limit) return { ...found, tasks }
    cursor = found.next_cursor
  }
}

function taskRow(task: TaskSummary, keys: ReadonlyMap<string, string>): string[] {
  const { task_id, agent_id, status, unfinished, step_count, first_ts, last_ts } = task
  const state = unfinished ? 'unfinished' : status
  return [task_id, keys.get(agent_id) ?? agent_id, state, String(step_count), minute(first_ts), minute(last_ts)]
}

const stepColumns = [
  { heading: 'STEP' },
  { heading: 'TIME' },
  { heading: 'TYPE' },
  { heading: 'VERB' },
  { heading: 'NAME', least: 8 },
  { heading: 'RESULT' },
] as const

async function showTask(client: Client, task_id: string): Promise<Output> {
  const entries = await allRows<LogEntry>(client, '/api/v1/logs', 'logs', { task_id })
  const [first] = entries
  if (first === undefined)
    throw new Error(`no task of ${client.workspace().name} has the id \`${task_id}\`: \`svc tasks\` lists them`)
  const [incidents, verification, keys] = await Promise.all([
    allRows<Incident>(client, '/api/v1/incidents', 'incidents', { task_id }),
    client.get<Verification>(`/api/v1/tasks/${encodeURIComponent(task_id)}/verify`),
    agentKeys(client),
  ])
  const head = [
    ['task', task_id],
    ['agent', keys.get(first.agent_id) ?? first.agent_id],
    ['status', statusOf(entries)],
    ['steps', String(entries.length)],
    ['record', recordText(verification)],
    ['incidents', String(incidents.length)],
  ]
  const rows = entries.map((entry) => ({ cells: stepRow(entry), notes: notesOf(entry, incidents) }))
  const others = incidents.filter(({ log_id }) => !entries.some((entry) => entry.log_id === log_id))
  return {
    lines: [...table(head), '', ...rowsWithNotes(client, stepColumns, rows), ...others.map(incidentText)],
    json: { task_id, agent_id: first.agent_id, status: statusOf(entries), verification, entries, incidents },
  }
}

/** As the platform derives it: an error takes precedence over an end. */
function statusOf(entries: readonly LogEntry[]): TaskSummary['status'] {
  const types = new Set(entries.map(({ step_type }) => canonicalType(step_type)))
  if (types.has('task.error')) return 'error'
  return types.has('task.end') ? 'completed' : 'running'
}

function recordText({ valid, integrity, sequence }: Verification): string {
  if (valid) return 'whole'
  const { first_bad } = integrity
  if (first_bad !== null) return `ALTERED at entry ${first_bad.seq ?? '?'}: ${first_bad.message}`
  return sequence.ok ? 'not whole' : 'unaltered; the steps did not arrive in order, or one is missing'
}

function stepRow({ step, timestamp, step_type, verb, step_name, output }: LogEntry): string[] {
  const status = output?.status
  const result = status === 'blocked' ? 'blocked' : ''
  return [String(step), timestamp.slice(0, 19), step_type, verb ?? '', step_name ?? '', result]
}

function notesOf({ log_id }: LogEntry, incidents: readonly Incident[]): string[] {
  return incidents.filter((incident) => incident.log_id === log_id).map(incidentText)
}

function incidentText({ id, severity, state, policy_name, violation_details }: Incident): string {
  return `${severity} incident, ${state}: ${policy_name}: ${violation_details.reason} (${id})`
}
