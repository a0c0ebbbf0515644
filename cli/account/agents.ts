// `svc agents` and `svc agent`: the agents of the workspace, and what governs one of them.
import type {
  Agent,
  AgentList,
  Assignment,
  EngineIntervals,
  IncidentList,
  MemberList,
  Policy,
  Stop,
} from '@svc/schemas'
import { agentOf } from './agent-names.js'
import { agentText, type GoverningFacts } from './agent-text.js'
import { allRows } from './all-rows.js'
import type { Client } from './client.js'
import { rowsWithNotes } from './columns.js'
import { memberCommands, type Output, type Subcommand } from './subcommand.js'

type Options = Readonly<Record<string, string>>

const subcommands: readonly (Subcommand & { readonly examples: readonly string[] })[] = [
  {
    call: 'agents',
    description: 'list the agents of the workspace that are active',
    options: [
      ['--all', 'also those that are deactivated'],
      ['--environment <environment>', 'of one environment, such as production'],
      ['--search <text>', 'with this text in the key or name'],
    ],
    examples: ['agents', 'agents --environment production --json'],
    run: listAgents,
  },
  {
    call: 'agent <what> <agent>',
    description: 'show an agent, by its key or id: the policies in force, their manifests, waivers, stops and engines',
    choices: { what: ['show'] },
    examples: ['agent show refund-desk', 'agent show refund-desk --json'],
    run: (client, [, wanted = '']) => showAgent(client, wanted),
  },
]

export const agentCommands = memberCommands(subcommands)

const columns = [
  { heading: 'KEY', least: 12 },
  { heading: 'NAME', least: 8 },
  { heading: 'LEVEL' },
  { heading: 'ENVIRONMENT' },
  { heading: 'STATE' },
  { heading: 'ID', below: true },
] as const

async function listAgents(client: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { all, environment, search } = options
  const query = {
    ...(all === undefined && { active: 'true' }),
    ...(environment !== undefined && { environment }),
    ...(search !== undefined && { q: search }),
  }
  const found = await allRows<Agent>(client, '/api/v1/agents', 'agents', query)
  // The platform lists them by id, which says nothing to a person.
  const agents = found.toSorted((a, b) => (a.agent_key < b.agent_key ? -1 : 1))
  const json: AgentList = { agents, total: agents.length, next_cursor: null }
  if (agents.length === 0) return { lines: ['no agent matches: an agent registers with POST /api/v1/agents'], json }
  const rows = agents.map((agent) => ({
    cells: [
      agent.agent_key,
      agent.name,
      agent.effective_risk_classification,
      agent.environment,
      agent.active ? 'active' : 'deactivated',
      agent.agent_id,
    ],
    notes: levelNotes(agent),
  }))
  return { lines: rowsWithNotes(client, columns, rows), json }
}

/** A lowered level waits until a person confirms it. */
export function levelNotes({ risk_classification: declared, effective_risk_classification: own }: Agent): string[] {
  return declared === own ? [] : [`declares the level ${declared}: policies use ${own} until a person confirms it`]
}

async function showAgent(client: Client, wanted: string): Promise<Output> {
  const { get } = client
  const agent = await agentOf(client, wanted)
  const { agent_id } = agent
  const [own, shared, assignments, stopped, resuming, engines, incidents, members] = await Promise.all([
    allRows<Policy>(client, '/api/v1/policies', 'policies', { agent_id, enabled: 'true' }),
    allRows<Policy>(client, '/api/v1/policies', 'policies', { source: 'hand', enabled: 'true' }),
    allRows<Assignment>(client, '/api/v1/assignments', 'assignments', { agent_id }),
    allRows<Stop>(client, '/api/v1/stops', 'stops', { state: 'stopped' }),
    allRows<Stop>(client, '/api/v1/stops', 'stops', { state: 'resuming' }),
    get<EngineIntervals>(`/api/v1/agents/${agent_id}/engines?limit=20`),
    get<IncidentList>(`/api/v1/incidents?${new URLSearchParams({ agent_id, state: 'open,active', limit: '1' })}`),
    get<MemberList>(`/auth/workspaces/${client.workspace().org_id}/members`),
  ])
  const facts: GoverningFacts = {
    agent,
    policies: [...own, ...shared.filter((policy) => policy.agent_id === null && isForLevel(policy, agent))].filter(
      ({ rule_type }) => rule_type !== 'stopped',
    ),
    assignments,
    stops: [...stopped, ...resuming].filter((stop) => covers(stop, agent, assignments)),
    engines: engines.intervals,
    open_incidents: incidents.total,
  }
  const names = new Map(members.members.map(({ person_id, email }) => [person_id, email]))
  return { lines: agentText(client, facts, names), json: facts }
}

/** A policy written by hand is for exactly one level, or for all. */
function isForLevel({ risk_classification: level }: Policy, { effective_risk_classification: own }: Agent): boolean {
  return level === null || level === own
}

function covers({ target }: Stop, { agent_id }: Agent, assignments: readonly Assignment[]): boolean {
  if (target.kind === 'agent') return target.id === agent_id
  return target.kind === 'workspace' || assignments.some(({ manifest_id }) => manifest_id === target.id)
}
