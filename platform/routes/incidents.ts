import { byOperator, parameters, type Route } from '../http/route.js'
import { withSnapshot } from '../store/db.js'
import { listIncidents } from '../store/lists.js'
import { listReply, pageOf } from './page.js'

export const incidentRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/api/v1/incidents',
    summary: 'List incidents, the newest first',
    tag: 'Incidents',
    access: byOperator,
    query: {
      state: parameters.choice('state', ['open', 'active', 'resolved', 'ignored']),
      severity: parameters.choice('severity', ['low', 'medium', 'high', 'critical']),
      agent_id: parameters.text('one agent'),
      task_id: parameters.text('one task'),
      policy_id: { type: 'string', pattern: '^\\d{1,15}$', description: 'one policy' },
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'incident-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      const listed = await withSnapshot(platform.db, scope, (tx) => listIncidents(scope, tx, query, page))
      return listReply('incidents', listed, page, (incident) => incident.id)
    },
  },
]
