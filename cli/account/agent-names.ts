// Agents as people name them: by id, or by key.
import type { Agent } from '@svc/schemas'
import { allRows } from './all-rows.js'
import type { Client } from './client.js'

/** The agent with this id or key. Rejects when no agent or several have it, and names those that it may be. */
export async function agentOf(client: Client, wanted: string): Promise<Agent> {
  const known = await allRows<Agent>(client, '/api/v1/agents', 'agents')
  const found = known.filter(({ agent_id, agent_key }) => agent_id === wanted || agent_key === wanted)
  const [agent] = found
  if (agent !== undefined && found.length === 1) return agent
  if (found.length > 1)
    throw new Error(`${found.length} agents have the key \`${wanted}\`: give the id of one, ${listed(found)}`)
  const similar = known.filter(({ agent_key, name }) =>
    [agent_key, name].some((one) => one.toLowerCase().includes(wanted.toLowerCase())),
  )
  throw new Error(`no agent of ${client.workspace().name} has the id or key \`${wanted}\`: ${remedy(known, similar)}`)
}

function remedy(known: readonly Agent[], similar: readonly Agent[]): string {
  if (known.length === 0) return 'register the agent first, with its API key and POST /api/v1/agents'
  return similar.length > 0 ? `write one of ${listed(similar)}` : `it has ${listed(known)}`
}

const maxListed = 10

function listed(agents: readonly Agent[]): string {
  const shown = agents.slice(0, maxListed).map(({ agent_key, agent_id }) => `\`${agent_key}\` (${agent_id})`)
  const more = agents.length > maxListed ? ` and ${agents.length - maxListed} more` : ''
  return `${shown.join(', ')}${more}`
}

/** The keys of agents by id. */
export async function agentKeys(client: Client): Promise<ReadonlyMap<string, string>> {
  const agents = await allRows<Agent>(client, '/api/v1/agents', 'agents')
  return new Map(agents.map(({ agent_id, agent_key }) => [agent_id, agent_key]))
}
