import type { EngineHeartbeat } from '@svc/schemas'
import { takeHeartbeat } from '../commands/take-heartbeat.js'
import { PlatformError } from '../../errors.js'
import { byKey, byReader, parameters, type Route } from '../../http/route.js'
import { findAgents } from '../store/agents.js'
import { withSnapshot } from '../../db/db.js'
import { readIntervals } from '../store/engines.js'

const tag = 'Engines'
/** Engines speak once a minute: after three silent ones nobody knows how they are, ms. */
const silence = 180_000

export const engineStateRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/v1/engines/heartbeat',
    summary: 'A local engine tells in which state it is, or was',
    tag,
    access: byKey,
    body: 'engine-heartbeat',
    responses: { 204: null },
    handle: async ({ platform, scope, principal, body }) => {
      if (principal.kind !== 'key') throw new PlatformError('FORBIDDEN', 'engines speak with an API key')
      await takeHeartbeat(platform, scope, principal.key, body as EngineHeartbeat)
      return { status: 204 }
    },
  },
  {
    method: 'get',
    path: '/api/v1/agents/{agent_id}/engines',
    summary: "In which states an agent's local engines were, and when",
    tag,
    access: byReader,
    query: { limit: parameters.limit(1000, 100) },
    responses: { 200: 'engine-intervals' },
    handle: async ({ platform, scope, params, query }) =>
      withSnapshot(platform.db, scope, async (tx) => {
        const { agent_id = '' } = params
        const [agent] = await findAgents(scope, tx, [agent_id])
        if (agent === undefined) throw new PlatformError('NOT_FOUND', 'no such agent')
        const limit = Number(query.limit ?? 100)
        const intervals = await readIntervals(scope, tx, agent_id, platform.clock() - silence, limit)
        return { status: 200, body: { intervals } }
      }),
  },
]
