// `svc stop`, `svc stops`, `svc resume`: block every step of agents in an emergency, and let them continue.
import type { AgentList, Stop, StopList } from '@svc/schemas'
import { UsageError } from '../errors.js'
import type { Client } from './client.js'
import { memberCommands, type Output, type Subcommand } from './subcommand.js'
import { table } from './table.js'

type Options = Readonly<Record<string, string>>

const subcommands: readonly (Subcommand & { readonly examples: readonly string[] })[] = [
  {
    call: 'stop',
    description: 'block every further step of an agent, of the agents of a manifest, or of the workspace',
    options: [
      ['--agent <agent>', 'key or id of the agent'],
      ['--with-key', 'with --agent: every agent of its API key, also those registered later'],
      ['--manifest <id>', 'id of a manifest: every agent that has it now or gets it later'],
      ['--workspace', 'every agent of the workspace, also those registered later'],
      ['--reason <text>', 'why; every blocked step says it'],
    ],
    required: ['reason'],
    examples: [
      'stop --agent refund-desk --reason "refunds go to wrong accounts"',
      'stop --workspace --reason "leaked key"',
    ],
    run: stop,
  },
  {
    call: 'stops',
    description: 'list the stops that are on, newest first',
    options: [['--all', 'also those that were resumed']],
    examples: ['stops'],
    run: listStops,
  },
  {
    call: 'resume <stop>',
    description: 'let the agents of a stop continue: all that are still stopped, some of them, or a percentage',
    options: [
      ['--percent <number>', 'resume agents until this share of those that were stopped is resumed'],
      ['--note <text>', 'what was done'],
    ],
    lists: [['--agents <agents>', 'keys or ids of agents, separated by commas']],
    examples: [
      'resume stp_0199c2f0-8a4e-7c11-9d5e-3f2a1b0c4d5e --percent 10 --note "fixed in release 41"',
      'resume stp_0199c2f0-8a4e-7c11-9d5e-3f2a1b0c4d5e',
    ],
    run: resume,
  },
]

export const stopCommands = memberCommands(subcommands)

const isAgentId = (text: string) => /^ag_[0-9a-f]{32}$/.test(text)

async function stop({ svc, post }: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { agent, withKey, manifest, workspace, reason } = options
  const targets = [
    ...(agent === undefined ? [] : [isAgentId(agent) ? { agent_id: agent } : { agent_key: agent }]),
    ...(manifest === undefined ? [] : [{ manifest_id: manifest }]),
    ...(workspace === undefined ? [] : [{ workspace: true }]),
  ]
  if (targets.length !== 1)
    throw new UsageError('name one target: `--agent KEY`, `--manifest ID` or `--workspace`; nothing is stopped yet')
  const made = await post<Stop>('/api/v1/stops', {
    ...targets[0],
    ...(withKey !== undefined && { with_key: true }),
    reason,
  })
  const lines = [
    `stopped: ${targetText(made)}, ${agentsText(made.agents)}; their next step is blocked`,
    'connected local engines know it within a second, others at their next call to the platform',
    `resume with: ${svc} resume ${made.id}`,
  ]
  return { lines, json: made }
}

async function listStops({ get }: Client, _args: readonly string[], { all }: Options): Promise<Output> {
  const pages = all === undefined ? ['?state=stopped&limit=200', '?state=resuming&limit=200'] : ['?limit=200']
  const lists = await Promise.all(pages.map((query) => get<StopList>(`/api/v1/stops${query}`)))
  const stops = lists.flatMap((list) => list.stops).sort((a, b) => (a.id < b.id ? 1 : -1))
  const total = lists.reduce((sum, list) => sum + list.total, 0)
  const json: StopList = { stops, total, next_cursor: lists.length === 1 ? (lists[0]?.next_cursor ?? null) : null }
  if (stops.length === 0) return { lines: ['no stop is on'], json }
  const shown = await Promise.all(
    stops.slice(0, maxDetailed).map(({ id }) => get<Stop>(`/api/v1/stops/${encodeURIComponent(id)}`)),
  )
  const attempts = new Map(shown.map(({ id, blocked_attempts }) => [id, attemptsText(blocked_attempts)]))
  const rows = stops.map((one) => [
    one.id,
    one.state,
    String(one.agents),
    attempts.get(one.id) ?? '',
    targetText(one),
    `${one.created_at.slice(0, 16)}Z`,
    one.created_by,
    one.reason,
  ])
  return { lines: table([['ID', 'STATE', 'AGENTS', 'BLOCKED', 'TARGET', 'SINCE', 'BY', 'REASON'], ...rows]), json }
}

/** Stops whose blocked attempts are read. */
const maxDetailed = 20

/** The number of blocked attempts, with their agents if there are several. */
function attemptsText(attempts: Stop['blocked_attempts'] = []): string {
  const total = attempts.reduce((sum, { count }) => sum + count, 0)
  return attempts.length > 1 ? `${total} of ${agentsText(attempts.length)}` : String(total)
}

async function resume(
  client: Client,
  [id = '']: readonly string[],
  { percent, note }: Options,
  { agents }: Readonly<Record<string, readonly string[]>>,
): Promise<Output> {
  if (percent !== undefined && !/^([1-9]\d?|100)$/.test(percent))
    throw new UsageError(`\`--percent\` is \`${percent}\`: write a whole number from 1 to 100`)
  const named = agents?.flatMap((text) => text.split(',').map((one) => one.trim())).filter((one) => one !== '')
  const agent_ids = named && (await Promise.all(named.map((one) => agentId(client, one))))
  const body = {
    ...(percent !== undefined && { percent: Number(percent) }),
    ...(agent_ids !== undefined && { agent_ids }),
    ...(note !== undefined && { note }),
  }
  const resumed = await client.post<Stop>(`/api/v1/stops/${encodeURIComponent(id)}/resume`, body)
  const count = resumed.stages.at(-1)?.agents ?? 0
  const rest =
    resumed.state === 'resumed'
      ? 'the stop has ended; another stop may still block some of them: `svc stops`'
      : `${agentsText(resumed.agents)} still stopped; ${resumed.agents === 0 ? 'end the stop' : 'resume the rest'} with: ${client.svc} resume ${resumed.id}`
  return { lines: [`resumed: ${agentsText(count)}`, rest], json: resumed }
}

/** The id of the agent with this key or id. Rejects unless exactly one has it. */
async function agentId({ get }: Client, text: string): Promise<string> {
  if (isAgentId(text)) return text
  const { agents } = await get<AgentList>(`/api/v1/agents?limit=200&q=${encodeURIComponent(text)}`)
  const found = agents.filter(({ agent_key }) => agent_key === text)
  if (found.length === 1) return found[0]?.agent_id ?? ''
  const ids = found.map(({ agent_id }) => agent_id).join(', ')
  throw new Error(
    found.length === 0
      ? `no agent has the key \`${text}\``
      : `several agents have the key \`${text}\`: give an id, ${ids}`,
  )
}

function targetText({ target }: Stop): string {
  if (target.kind === 'workspace') return 'the workspace'
  if (target.kind === 'key') return `the agents of the API key ${target.id}`
  return `${target.kind} ${target.id}`
}

function agentsText(count: number): string {
  return count === 1 ? '1 agent' : `${count} agents`
}
