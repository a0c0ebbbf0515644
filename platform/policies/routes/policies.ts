import { rules } from '@svc/engine'
import { type Resources, withSnapshot } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { listReply, pageByIndex } from '../../http/paging.js'
import { idIn } from '../../http/path-id.js'
import { byReader, parameters, route, valuesOf } from '../../http/route.js'
import { findPolicy, listPolicies } from '../store/policies.js'

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
  route({
    method: 'get',
    path: '/api/v1/policies/{id}',
    summary: 'Get a policy, with the manifest that it comes from',
    tag,
    access: byReader,
    responses: { 200: 'policy' },
    handle: async ({ scope, params }, { db }: Resources) => {
      const id = idIn(params.id)
      const policy = id === null ? null : await withSnapshot(db, scope, (tx) => findPolicy(scope, tx, id))
      if (policy === null) throw new PlatformError('NOT_FOUND', 'no such policy: list them with GET /api/v1/policies')
      return { status: 200, body: policy }
    },
  }),
]
