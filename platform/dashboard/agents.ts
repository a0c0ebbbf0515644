// Names of agents, for pages about things that name an agent by its id.
import type { Agent } from '@svc/schemas'
import { paths } from './paths.js'
import { type Html, link } from './views/html.js'
import type { Visit } from './visit.js'

/** The name of an agent, else its key. */
export function nameOf({ name, agent_key }: Pick<Agent, 'name' | 'agent_key'>): string {
  return name === '' ? agent_key : name
}

/** A link to the agent of a row that has the name of its agent. */
export function agentLink({ agent_id, agent_name }: { readonly agent_id: string; readonly agent_name: string }): Html {
  return link(paths.agent(agent_id), agent_name === '' ? agent_id : agent_name)
}

/** Agents that one request lists. */
const maxAgents = 200

export interface Agents {
  readonly listed: readonly Agent[]
  /** False if the workspace has more agents than are listed. */
  readonly complete: boolean
  /** The name of an agent as a link; its id where it is not listed. */
  readonly link: (agent_id: string) => Html
}

/** Reads the agents of the workspace once, without their state now. */
export async function agentsOf({ api: { read }, once }: Visit): Promise<Agents> {
  const filter = { state_now: 'false', limit: String(maxAgents) }
  const { agents, total } = await once('agents', () => read('agent-list', '/api/v1/agents', filter))
  const names = new Map(agents.map((agent) => [agent.agent_id, nameOf(agent)]))
  return {
    listed: agents,
    complete: agents.length >= total,
    link: (agent_id) => link(paths.agent(agent_id), names.get(agent_id) ?? agent_id),
  }
}
