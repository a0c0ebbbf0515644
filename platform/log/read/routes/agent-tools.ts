import { agentNotFound } from '../../../agents/errors.js'
import { findAgents } from '../../../agents/store/agents.js'
import { type Resources, withSnapshot } from '../../../db/db.js'
import { byReader, route } from '../../../http/route.js'
import { toolsOf } from '../agent-tools.js'

export const agentToolRoutes = [
  route({
    method: 'get',
    path: '/api/v1/agents/{agent_id}/tools',
    summary: 'List the tools that an agent declares, and those that its last steps used',
    tag: 'Agents',
    access: byReader,
    responses: { 200: 'agent-tools' },
    handle: async ({ scope, params }, { db }: Resources) =>
      withSnapshot(db, scope, async (tx) => {
        const [agent] = await findAgents(scope, tx, [params.agent_id])
        if (agent === undefined) throw agentNotFound()
        return { status: 200, body: await toolsOf(scope, tx, agent) }
      }),
  }),
]
