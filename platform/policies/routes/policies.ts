import { rules } from '@svc/engine'
import { type Resources, withSnapshot } from '../../db/db.js'
import { listReply, pageByIndex } from '../../http/paging.js'
import { byReader, parameters, route, valuesOf } from '../../http/route.js'
import { listPolicies } from '../store/policies.js'

const tag = 'Policies'

export const policyRoutes = [
  route({
    method: 'get',
    path: '/api/v1/policies',
    summary: 'List policies',
    tag,
    access: byReader,
    query: {
      agent_id: parameters.text('policies of one agent'),
      scope: parameters.choice('scope', valuesOf('policy', 'scope')),
      enabled: parameters.flag('false for disabled policies'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'policy-list' },
    handle: async ({ scope, query }, parts: Resources) => {
      const page = pageByIndex(query)
      const listed = await withSnapshot(parts.db, scope, (tx) => listPolicies(scope, tx, query, page))
      return listReply('policies', listed, page, (policy) => policy.id)
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/policies/rules',
    summary: 'List the rules and their parameters',
    tag,
    access: byReader,
    responses: { 200: 'rule-list' },
    handle: async () => ({ status: 200, body: { rules } }),
  }),
]
