import { type Resources, withSnapshot } from '../../db/db.js'
import { keyOf } from '../../http/principal.js'
import { byKey, byReader, parameters, route } from '../../http/route.js'
import { takeHeartbeat } from '../commands/take-heartbeat.js'
import { agentNotFound } from '../errors.js'
import { findAgents } from '../store/agents.js'
import { readIntervals } from '../store/engines.js'

const tag = 'Engines'
/** Engines send a heartbeat every minute; after three missed ones their state is unknown. */
const heartbeatTimeoutMs = 180_000

export const engineStateRoutes = [
  route({
    method: 'post',
    path: '/api/v1/engines/heartbeat',
    summary: 'Report the state of a local engine',
    tag,
    access: byKey,
    body: 'engine-heartbeat',
    responses: { 204: null },
    handle: async ({ scope, principal, body }, parts: Resources) => {
      await takeHeartbeat(parts, scope, keyOf(principal), body)
      return { status: 204 }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/agents/{agent_id}/engines',
    summary: "List the states of an agent's local engines over time",
    tag,
    access: byReader,
    query: { limit: parameters.limit(1000, 100) },
    responses: { 200: 'engine-intervals' },
    handle: async ({ scope, params, query }, parts: Resources) =>
      withSnapshot(parts.db, scope, async (tx) => {
        const { agent_id } = params
        const [agent] = await findAgents(scope, tx, [agent_id])
        if (agent === undefined) throw agentNotFound()
        const limit = Number(query.limit ?? 100)
        const intervals = await readIntervals(scope, tx, agent_id, parts.clock() - heartbeatTimeoutMs, limit)
        return { status: 200, body: { intervals } }
      }),
  }),
]
