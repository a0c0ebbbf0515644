// `svc incidents`, `svc incident`, `svc policies`: the incidents of the workspace, their moves, and the policies behind them.
import { effectWords, type Incident, type IncidentList, type Policy, type PolicyList } from '@svc/schemas'
import { UsageError } from '../errors.js'
import { agentKeys, agentOf } from './agent-names.js'
import { minute } from './agent-text.js'
import { allRows } from './all-rows.js'
import type { Client } from './client.js'
import { columnsOf } from './columns.js'
import { memberCommands, type Output, type Subcommand } from './subcommand.js'
import { table } from './table.js'

type Options = Readonly<Record<string, string>>

const severities = ['low', 'medium', 'high', 'critical']

const subcommands: readonly (Subcommand & { readonly examples: readonly string[] })[] = [
  {
    call: 'incidents',
    description: 'list the incidents that are open or active, newest first',
    options: [
      ['--state <states>', 'other states: open, active, resolved, ignored, with commas between them', 'open,active'],
      ['--min-severity <severity>', 'this severity or a higher one'],
      ['--agent <agent>', 'of one agent, by its key or id'],
      ['--task <id>', 'of one task'],
      ['--policy <id>', 'of one policy'],
      ['--effect <effect>', 'of steps that were blocked or executed, or of unknown effect'],
    ],
    choices: { 'min-severity': severities, effect: ['blocked', 'executed', 'unknown'] },
    examples: [
      'incidents --min-severity high',
      'incidents --effect executed',
      'incidents --state resolved,ignored --json',
    ],
    run: listIncidents,
  },
  {
    call: 'incident <move> <incident>',
    description: 'show or move an incident, or add a note to it',
    options: [['--note <text>', 'what was done, or why; required for ignore and note']],
    choices: { move: ['show', 'review', 'resolve', 'ignore', 'reactivate', 'note'] },
    examples: [
      'incident show inc_0199c2f0-8a4e-7c11-9d5e-3f2a1b0c4d5e',
      'incident review inc_0199c2f0-8a4e-7c11-9d5e-3f2a1b0c4d5e',
      'incident resolve inc_0199c2f0-8a4e-7c11-9d5e-3f2a1b0c4d5e --note "the form asks for the amount now"',
    ],
    run: (client, [move = '', id = ''], options) =>
      move === 'show' ? showIncident(client, id) : moveIncident(client, move, id, options),
  },
  {
    call: 'policies',
    description: 'list the policies in force in the workspace',
    options: [
      ['--all', 'also those that are disabled, such as earlier versions of manifests'],
      ['--agent <agent>', 'that are for one agent alone, by its key or id'],
    ],
    examples: ['policies', 'policies --agent refund-desk', 'policies --all --json'],
    run: listPolicies,
  },
]

export const incidentCommands = memberCommands(subcommands)

const incidentColumns = [
  { heading: 'ID', below: true },
  { heading: 'STATE' },
  { heading: 'SEVERITY' },
  { heading: 'COUNT' },
  { heading: 'EFFECT' },
  { heading: 'LAST SEEN' },
  { heading: 'AGENT', least: 8 },
  { heading: 'TASK', least: 8 },
  { heading: 'POLICY', least: 8 },
] as const

async function listIncidents(client: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { state = '', minSeverity: min_severity, task: task_id, policy: policy_id, effect, agent } = options
  const agent_id = agent === undefined ? undefined : (await agentOf(client, agent)).agent_id
  const given = Object.entries({ state, min_severity, agent_id, task_id, policy_id, effect, limit: '200' })
  const query = new URLSearchParams(given.filter((one): one is [string, string] => one[1] !== undefined))
  const list = await client.get<IncidentList>(`/api/v1/incidents?${query}`)
  if (list.incidents.length === 0) return { lines: ['no incident matches'], json: list }
  const keys = await agentKeys(client)
  const rows = list.incidents.map((incident) => incidentRow(incident, keys))
  return { lines: [...columnsOf(client, incidentColumns, rows), ...restOf(rows.length, list.total)], json: list }
}

function incidentRow(incident: Incident, keys: ReadonlyMap<string, string>): string[] {
  const { id, state, severity, occurrences, effect, last_seen, agent_id, task_id, policy_name } = incident
  const agent = keys.get(agent_id) ?? agent_id
  return [id, state, severity, String(occurrences), effect, minute(last_seen), agent, task_id ?? '', policy_name]
}

async function showIncident({ get }: Client, id: string): Promise<Output> {
  const incident = await get<Incident>(`/api/v1/incidents/${encodeURIComponent(id)}`)
  const { severity, mode, state, policy_id, policy_name, agent_id, task_id, step, effects, note } = incident
  const rows = [
    ['id', incident.id],
    ['state', state],
    ['severity', `${severity}${mode === 'observe' ? ', observed only' : ''}`],
    ['policy', `${policy_id} ${policy_name}`],
    ['agent', agent_id],
    ...(task_id === null ? [] : [['task', `${task_id}${step === null ? '' : `, step ${step}`}`]]),
    ['effect', effectWords(effects).join(', ')],
    ['first seen', incident.first_seen],
    ['last seen', incident.last_seen],
    ['reason', incident.violation_details.reason],
    ...(note === null ? [] : [['note', note]]),
  ]
  return { lines: table(rows), json: incident }
}

async function moveIncident(client: Client, move: string, id: string, { note }: Options): Promise<Output> {
  if ((move === 'note' || move === 'ignore') && (note ?? '').trim() === '')
    throw new UsageError(`\`${move}\` needs a text: add \`--note "…"\``)
  const path = `/api/v1/incidents/${encodeURIComponent(id)}/${move === 'note' ? 'notes' : move}`
  const moved = await client.post<Incident>(path, note === undefined ? {} : { note })
  return { lines: [`${moved.id}: ${moved.state}`], json: moved }
}

const policyColumns = [
  { heading: 'ID' },
  { heading: 'SEVERITY' },
  { heading: 'MODE' },
  { heading: 'AGENT', least: 8 },
  { heading: 'FROM', least: 12 },
  { heading: 'NAME', least: 12 },
] as const

async function listPolicies(client: Client, _args: readonly string[], { all, agent }: Options): Promise<Output> {
  const agent_id = agent === undefined ? undefined : (await agentOf(client, agent)).agent_id
  const query = { ...(all === undefined && { enabled: 'true' }), ...(agent_id !== undefined && { agent_id }) }
  const policies = await allRows<Policy>(client, '/api/v1/policies', 'policies', query)
  const json: PolicyList = { policies, total: policies.length, next_cursor: null }
  if (policies.length === 0) return { lines: [all === undefined ? nothingInForce : 'no policy matches'], json }
  const keys = await agentKeys(client)
  return {
    lines: columnsOf(
      client,
      policyColumns,
      policies.map((policy) => policyRow(policy, keys)),
    ),
    json,
  }
}

const nothingInForce = 'no policy is in force: `svc policies --all` lists the others'

function policyRow(
  { id, severity, enabled, mode, agent_id, manifest_path, name }: Policy,
  keys: ReadonlyMap<string, string>,
) {
  const agent = agent_id === null ? 'all' : (keys.get(agent_id) ?? agent_id)
  return [String(id), severity, enabled ? mode : 'disabled', agent, manifest_path ?? 'API', name]
}

function restOf(shown: number, total: number): string[] {
  return total > shown ? [`${total - shown} more`] : []
}
