import { listHandler, pageByIndex } from '../../../http/paging.js'
import { byReader, parameters, route } from '../../../http/route.js'
import { listEvents } from '../store/events.js'

export const eventRoutes = [
  route({
    method: 'get',
    path: '/api/v1/events',
    summary: 'List events of the audit trail',
    tag: 'Events',
    access: byReader,
    query: {
      kind: parameters.text('such as incident.resolved; `incident.` for all that begin so'),
      actor: parameters.text('id of the actor'),
      subject: parameters.text('id of the subject'),
      from: parameters.time('at or after'),
      to: parameters.time('at or before'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'event-list' },
    handle: listHandler('events', listEvents, ({ log_index }) => log_index, pageByIndex),
  }),
]
