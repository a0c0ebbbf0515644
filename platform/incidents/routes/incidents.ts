import { type Resources, withSnapshot } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { listHandler, listReply, pageByIndex } from '../../http/paging.js'
import { byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import type { Triggering } from '../actions/triggers.js'
import { type IncidentMove, moveIncident, noteIncident, noteOf } from '../commands/move-incident.js'
import { moveIncidents } from '../commands/move-incidents.js'
import { findIncident } from '../store/incidents.js'
import { positionOf as groupPosition, listGroups } from '../store/list-groups.js'
import { listIncidents, positionOf } from '../store/list-incidents.js'
import { listOccurrences } from '../store/occurrences.js'

const tag = 'Incidents'

function moveRoute(move: IncidentMove, summary: string) {
  return route({
    method: 'post',
    path: `/api/v1/incidents/{id}/${move}`,
    summary,
    tag,
    access: byMember,
    body: 'incident-move',
    may_be_empty: true,
    responses: { 200: 'incident' },
    handle: async ({ scope, params, body }, parts: Resources & Triggering) => ({
      status: 200,
      body: await moveIncident(parts, scope, params.id, move, noteOf(move, body)),
    }),
  })
}

const severities = valuesOf('incident', 'severity')

/** Filters of incidents and of their groups. */
const filters = {
  state: parameters.choices('state', valuesOf('incident', 'state')),
  severity: parameters.choices('severity', severities),
  min_severity: parameters.choice('this severity or a higher one', severities),
  agent_id: parameters.text('one agent'),
  policy_id: parameters.id('one policy'),
  code: parameters.text('one code of violations'),
  effect: parameters.choices('effect', valuesOf('incident', 'effect')),
  reviewed_by: parameters.text('actor who reviewed it last, such as `person:usr_1`; `me` is the caller'),
  q: parameters.text('part of the name of the policy'),
}

export const incidentRoutes = [
  route({
    method: 'get',
    path: '/api/v1/incidents',
    summary: 'List incidents, newest first or by severity',
    tag,
    access: byReader,
    query: {
      ...filters,
      task_id: parameters.text('one task'),
      step: parameters.index('opened by the step with this number, of any task; with `task_id` of one'),
      manifest_id: parameters.text('one manifest'),
      rule_type: parameters.text('one rule'),
      scope: parameters.choice('scope of the policy', valuesOf('incident', 'scope')),
      mode: parameters.choice('mode of the policy', valuesOf('incident', 'mode')),
      from: parameters.time('first seen at or after'),
      to: parameters.time('first seen at or before'),
      order: parameters.choice(
        '`severity`: the most severe first, of these the executed ones, then the newest; else newest first',
        ['newest', 'severity'],
      ),
      around: parameters.text('an incident: the answer also has the ids of those `previous` and `next` to it'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'incident-list' },
    handle: listHandler('incidents', listIncidents, positionOf, pageByIndex),
  }),
  route({
    method: 'get',
    path: '/api/v1/incidents/groups',
    summary: 'List groups of incidents with the same policy, agent, code and effect, last seen first',
    tag,
    access: byReader,
    query: { ...filters, limit: parameters.limit(200, 50), cursor: parameters.cursor },
    responses: { 200: 'incident-group-list' },
    handle: listHandler('groups', listGroups, groupPosition),
  }),
  route({
    method: 'get',
    path: '/api/v1/incidents/{id}',
    summary: 'Get an incident with its history',
    tag,
    access: byReader,
    responses: { 200: 'incident' },
    handle: async ({ scope, params }, parts: Resources) => {
      const incident = await withSnapshot(parts.db, scope, (tx) => findIncident(scope, tx, params.id))
      if (incident === null) throw absent()
      return { status: 200, body: incident }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/incidents/{id}/occurrences',
    summary: 'List the violations that an incident counts, with their log entries, oldest first',
    tag,
    access: byReader,
    query: { limit: parameters.limit(200, 50), cursor: parameters.cursor },
    responses: { 200: 'incident-occurrence-list' },
    handle: async ({ scope, params, query }, parts: Resources) => {
      const page = pageByIndex(query)
      const listed = await withSnapshot(parts.db, scope, async (tx) => {
        const incident = await findIncident(scope, tx, params.id)
        if (incident === null) throw absent()
        return listOccurrences(scope, tx, incident, page)
      })
      return listReply('occurrences', listed, page, ({ number }) => number)
    },
  }),
  moveRoute('review', 'Start the review of an open incident'),
  moveRoute('resolve', 'Resolve an incident; a further violation opens a new one'),
  moveRoute('ignore', 'Ignore an incident, with a reason; further violations are only counted'),
  moveRoute('reactivate', 'Reactivate a resolved or ignored incident'),
  route({
    method: 'post',
    path: '/api/v1/incidents/{id}/notes',
    summary: 'Add a note to the history of an incident, whose state stays',
    tag,
    access: byMember,
    body: 'incident-note',
    responses: { 200: 'incident' },
    handle: async ({ scope, params, body }, parts: Resources & Triggering) => ({
      status: 200,
      body: await noteIncident(parts, scope, params.id, body.note),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/incidents/bulk',
    summary: 'Move up to 200 incidents; each has its own result',
    tag,
    access: byMember,
    body: 'incident-bulk',
    responses: { 200: 'incident-bulk-answer' },
    handle: async ({ scope, body, request_id }, parts: Resources & Triggering) => ({
      status: 200,
      body: { results: await moveIncidents(parts, scope, body, request_id) },
    }),
  }),
]

function absent(): PlatformError {
  return new PlatformError('NOT_FOUND', 'this incident does not exist')
}
