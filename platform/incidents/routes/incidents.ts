import { type Resources, withSnapshot } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { listReply, pageByIndex } from '../../http/paging.js'
import { byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import { type IncidentMove, moveIncident } from '../commands/move-incident.js'
import { findIncident, listIncidents } from '../store/incidents.js'

/** The route of a move, with its body. */
function moveRoute(move: IncidentMove, body: 'incident-note' | 'incident-reason', summary: string) {
  return route({
    method: 'post',
    path: `/api/v1/incidents/{id}/${move}`,
    summary,
    tag: 'Incidents',
    access: byMember,
    body,
    responses: { 200: 'incident' },
    handle: async ({ scope, params, body: sent }, parts: Resources) => {
      const note = ('reason' in sent ? sent.reason : sent.note) ?? null
      return { status: 200, body: await moveIncident(parts, scope, params.id, move, note) }
    },
  })
}

export const incidentRoutes = [
  route({
    method: 'get',
    path: '/api/v1/incidents',
    summary: 'List incidents, newest first',
    tag: 'Incidents',
    access: byReader,
    query: {
      state: parameters.choice('state', valuesOf('incident', 'state')),
      severity: parameters.choice('severity', valuesOf('incident', 'severity')),
      agent_id: parameters.text('one agent'),
      task_id: parameters.text('one task'),
      policy_id: parameters.id('one policy'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'incident-list' },
    handle: async ({ scope, query }, parts: Resources) => {
      const page = pageByIndex(query)
      const listed = await withSnapshot(parts.db, scope, (tx) => listIncidents(scope, tx, query, page))
      return listReply('incidents', listed, page, ({ log_index }) => log_index)
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/incidents/{id}',
    summary: 'Get an incident with its history',
    tag: 'Incidents',
    access: byReader,
    responses: { 200: 'incident' },
    handle: async ({ scope, params }, parts: Resources) => {
      const incident = await withSnapshot(parts.db, scope, (tx) => findIncident(scope, tx, params.id))
      if (incident === null) throw new PlatformError('NOT_FOUND', 'this incident does not exist')
      return { status: 200, body: incident }
    },
  }),
  moveRoute('review', 'incident-note', 'Start the review of an open incident'),
  moveRoute('resolve', 'incident-note', 'Resolve an incident; a further violation opens a new one'),
  moveRoute('ignore', 'incident-reason', 'Ignore an incident; further violations are only counted'),
  moveRoute('reactivate', 'incident-note', 'Reactivate a resolved or ignored incident'),
]
