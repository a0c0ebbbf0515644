import type { JsonMap } from '@svc/schemas'
import { type Resources, withSnapshot } from '../db/db.js'
import { byMember, byReader, parameters, route, valuesOf } from '../http/route.js'
import { activityOf } from './activity.js'
import { createView, deleteView } from './change-views.js'
import { type OverviewParts, overviewOf } from './overview.js'
import { search } from './search.js'
import { listViews } from './views-store.js'

const tag = 'Views'

const day = (description: string): JsonMap => ({
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  'x-must': 'be a day such as 2026-01-31',
  description,
})

export const overviewRoutes = [
  route({
    method: 'get',
    path: '/api/v1/search',
    summary:
      'Search tasks by the beginning of their id, agents and policies by id or part of the name, incidents by id or by reason: at most 8 of each, incidents by the policy and the latest reason of the 100 groups that were last seen',
    tag: 'Search',
    access: byReader,
    query: { q: parameters.text('an id, or a part of a name or a reason; ids with the same case') },
    required: ['q'],
    responses: { 200: 'search-result-list' },
    handle: async ({ scope, query }, parts: Resources) => ({
      status: 200,
      body: { results: await search(parts, scope, query.q ?? '') },
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/overview',
    summary:
      'Count what may need attention: open incidents, stopped and ungoverned agents, unfinished tasks, held versions',
    tag: 'Activity',
    access: byReader,
    responses: { 200: 'overview' },
    handle: async ({ scope }, parts: OverviewParts) => ({ status: 200, body: await overviewOf(parts, scope) }),
  }),
  route({
    method: 'get',
    path: '/api/v1/activity',
    summary:
      'Count logged steps and their violations by day (UTC), for at most 92 days; by default the 30 that end today',
    tag: 'Activity',
    access: byReader,
    query: { from: day('first day, such as 2026-01-01'), to: day('last day') },
    responses: { 200: 'activity' },
    handle: async ({ scope, query }, parts: Resources) => ({
      status: 200,
      body: await activityOf(parts, scope, query),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/views',
    summary: 'List the named views of the lists of the workspace, by list and name',
    tag,
    access: byReader,
    query: { list: parameters.choice('one list', valuesOf('view', 'list')) },
    responses: { 200: 'view-list' },
    handle: async ({ scope, query }, { db }: Resources) => {
      const views = await withSnapshot(db, scope, (tx) => listViews(scope, tx, query.list))
      return { status: 200, body: { views } }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/views',
    summary: 'Give filters of a list a name; a list has at most 50 views',
    tag,
    access: byMember,
    body: 'view-request',
    responses: { 201: 'view' },
    handle: async ({ scope, body }, parts: Resources) => ({ status: 201, body: await createView(parts, scope, body) }),
  }),
  route({
    method: 'delete',
    path: '/api/v1/views/{id}',
    summary: 'Delete a view',
    tag,
    access: byMember,
    responses: { 204: null },
    handle: async ({ scope, params }, parts: Resources) => {
      await deleteView(parts, scope, params.id)
      return { status: 204 }
    },
  }),
]
