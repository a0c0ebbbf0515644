import { rules } from '@svc/engine'
import { type Resources, withSnapshot } from '../../db/db.js'
import { listHandler, pageByIndex } from '../../http/paging.js'
import { idIn } from '../../http/path-id.js'
import { byReader, parameters, route, valuesOf } from '../../http/route.js'
import { policyNotFound } from '../commands/write-policy.js'
import { findListedPolicy, listPolicies } from '../store/policies.js'
import { tagOf } from './written-policies.js'

const tag = 'Policies'
const levels = valuesOf('policy', 'risk_classification').filter((level) => level !== null)

export const policyRoutes = [
  route({
    method: 'get',
    path: '/api/v1/policies',
    summary: 'List policies',
    tag,
    access: byReader,
    query: {
      agent_id: parameters.text('policies that name one agent'),
      scope: parameters.choice('scope', valuesOf('policy', 'scope')),
      enabled: parameters.flag('false for disabled policies'),
      mode: parameters.choice('mode', valuesOf('policy', 'mode')),
      severity: parameters.choice('severity', valuesOf('policy', 'severity')),
      risk_classification: parameters.choice('policies that name one level', levels),
      rule_type: parameters.text('one rule'),
      manifest_id: parameters.text('policies from one manifest'),
      source: parameters.choice('from manifests, or written by hand', ['manifest', 'hand']),
      q: parameters.text('part of the name'),
      deleted: parameters.flag('true for deleted policies only'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'policy-list' },
    handle: listHandler('policies', listPolicies, ({ id }) => id, pageByIndex),
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
      const policy = id === null ? null : await withSnapshot(db, scope, (tx) => findListedPolicy(scope, tx, id))
      if (policy === null) throw policyNotFound()
      return { status: 200, body: policy, headers: { etag: tagOf(policy) } }
    },
  }),
]
