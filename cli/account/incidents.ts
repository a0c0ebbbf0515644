// `svc incidents`, `svc incident`, `svc policies`: the incidents of the workspace, their moves, and the policies behind them.
import { effectWords, type Incident, type IncidentList, type Policy, type PolicyList } from '@svc/schemas'
import type { Command } from 'commander'
import { UsageError } from '../errors.js'
import type { Client } from './client.js'
import { memberCommand, type Output, type Subcommand } from './subcommand.js'
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
    description: 'list the policies of the workspace',
    examples: ['policies'],
    run: listPolicies,
  },
]

export const incidentCommands: readonly ((svc: string) => Command)[] = subcommands.map(
  (subcommand) => (svc) => memberCommand(svc, subcommand, subcommand.examples),
)

async function listIncidents({ get }: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { state = '', minSeverity: min_severity, task: task_id, policy: policy_id, effect } = options
  const given = Object.entries({ state, min_severity, task_id, policy_id, effect, limit: '200' })
  const query = new URLSearchParams(given.filter((one): one is [string, string] => one[1] !== undefined))
  const list = await get<IncidentList>(`/api/v1/incidents?${query}`)
  if (list.incidents.length === 0) return { lines: ['no incident matches'], json: list }
  const rows = list.incidents.map(incidentRow)
  const lines = table([['ID', 'STATE', 'SEVERITY', 'COUNT', 'EFFECT', 'LAST SEEN', 'TASK', 'POLICY'], ...rows])
  return { lines: [...lines, ...restOf(rows.length, list.total)], json: list }
}

function incidentRow({ id, state, severity, occurrences, effect, last_seen, ...row }: Incident): string[] {
  const { task_id, policy_name } = row
  return [id, state, severity, String(occurrences), effect, `${last_seen.slice(0, 16)}Z`, task_id ?? '', policy_name]
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

async function listPolicies({ get }: Client): Promise<Output> {
  const list = await get<PolicyList>('/api/v1/policies?limit=200')
  if (list.policies.length === 0) return { lines: ['the workspace has no policy'], json: list }
  const rows = list.policies.map(policyRow)
  const lines = table([['ID', 'SEVERITY', 'MODE', 'FROM', 'NAME'], ...rows])
  return { lines: [...lines, ...restOf(rows.length, list.total)], json: list }
}

function policyRow({ id, severity, enabled, mode, manifest_path, name }: Policy): string[] {
  return [String(id), severity, enabled ? mode : 'disabled', manifest_path ?? 'API', name]
}

function restOf(shown: number, total: number): string[] {
  return total > shown ? [`${total - shown} more`] : []
}
