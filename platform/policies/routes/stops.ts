import { type Resources, withSnapshot } from '../../db/db.js'
import { listHandler } from '../../http/paging.js'
import { byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import { resumeStop } from '../commands/resume-stop.js'
import { stop, stopIn } from '../commands/stop.js'
import { blockedAttempts } from '../store/blocked-attempts.js'
import { listStops } from '../store/stops.js'

const tag = 'Stops'

/** `announceChange` wakes the engines of a workspace that wait for changes in this process. */
type StopParts = Resources & { readonly announceChange: (org_id: string) => void }

export const stopRoutes = [
  route({
    method: 'post',
    path: '/api/v1/stops',
    summary: 'Stop an agent, the agents of its API key or of a manifest, or the workspace: their next step is blocked',
    tag,
    access: byMember,
    body: 'stop-request',
    responses: { 201: 'stop' },
    handle: async ({ scope, body }, parts: StopParts) => {
      const made = await stop(parts, scope, body)
      parts.announceChange(scope.org_id)
      return { status: 201, body: made }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/stops',
    summary: 'List stops, newest first',
    tag,
    access: byReader,
    query: {
      state: parameters.choice('state', valuesOf('stop', 'state')),
      target: parameters.choice('kind of target', ['agent', 'key', 'manifest', 'workspace']),
      target_id: parameters.text('one agent or manifest'),
      agent_id: parameters.text('stops that stop this agent now, by any target'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'stop-list' },
    handle: listHandler('stops', listStops, ({ id }) => id),
  }),
  route({
    method: 'get',
    path: '/api/v1/stops/{id}',
    summary: 'Get a stop, with the number of agents that it stops now and the attempts that it blocked',
    tag,
    access: byReader,
    responses: { 200: 'stop' },
    handle: async ({ scope, params }, { db }: StopParts) => ({
      status: 200,
      body: await withSnapshot(db, scope, async (tx) => {
        const found = await stopIn(scope, tx, params.id)
        return { ...found, blocked_attempts: await blockedAttempts(scope, tx, found) }
      }),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/stops/{id}/resume',
    summary: 'Resume the agents of a stop: all that are still stopped, some of them, or a percentage',
    tag,
    access: byMember,
    body: 'stop-resume',
    may_be_empty: true,
    responses: { 200: 'stop' },
    handle: async ({ scope, params, body }, parts: StopParts) => {
      const resumed = await resumeStop(parts, scope, params.id, body)
      parts.announceChange(scope.org_id)
      return { status: 200, body: resumed }
    },
  }),
]
