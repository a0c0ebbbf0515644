import { isKnown } from '../../http/etag.js'
import { keyOf } from '../../http/principal.js'
import { byReadingKey, parameters, route } from '../../http/route.js'
import { effectivePoliciesOf, type PolicyParts } from '../commands/effective-policies.js'

const tag = 'Policies'

export const effectivePolicyRoutes = [
  route({
    method: 'get',
    path: '/api/v1/policies/effective',
    summary: 'Get the policies in effect for an agent, as local engines do',
    tag,
    access: byReadingKey,
    query: { agent_key: parameters.text('key of the agent') },
    required: ['agent_key'],
    responses: { 200: 'effective-policies', 304: null },
    handle: async ({ scope, principal, query, header }, parts: PolicyParts) => {
      const { body, etag } = await effectivePoliciesOf(parts, scope, keyOf(principal), query.agent_key ?? '')
      return isKnown(etag, header('if-none-match'))
        ? { status: 304, headers: { etag } }
        : { status: 200, body, headers: { etag } }
    },
  }),
]
