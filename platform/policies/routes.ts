import { rules } from '@svc/engine'
import { effectivePoliciesOf } from '../agents/commands/effective-policies.js'
import { PlatformError } from '../errors.js'
import { byReader, byReadingKey, parameters, type Route } from '../http/route.js'
import { withSnapshot } from '../db/db.js'
import { listPolicies } from '../db/lists.js'
import { listReply, numberAfter, pageOf } from '../http/paging.js'

const tag = 'Policies'
const scopes = ['agent_registration', 'step_execution', 'task_execution']

export const policyRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/api/v1/policies',
    summary: 'List policies',
    tag,
    access: byReader,
    query: {
      ...{ agent_id: parameters.text('those of one agent'), scope: parameters.choice('scope', scopes) },
      ...{ enabled: parameters.flag('enabled or not'), limit: parameters.limit(200, 50), cursor: parameters.cursor },
    },
    responses: { 200: 'policy-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      numberAfter(page)
      const listed = await withSnapshot(platform.db, scope, (tx) => listPolicies(scope, tx, query, page))
      return listReply('policies', listed, page, (policy) => policy.id)
    },
  },
  {
    method: 'get',
    path: '/api/v1/policies/rules',
    summary: 'The rule functions and their parameters',
    tag,
    access: byReader,
    responses: { 200: 'rule-list' },
    handle: async () => ({ status: 200, body: { rules } }),
  },
  {
    method: 'get',
    path: '/api/v1/policies/effective',
    summary: 'What the local engine fetches: the policies in effect for one agent',
    tag,
    access: byReadingKey,
    query: { agent_key: parameters.text('the agent, by its own key') },
    required: ['agent_key'],
    responses: { 200: 'effective-policies', 304: null },
    handle: async ({ platform, scope, principal, query, header }) => {
      if (principal.kind !== 'key') throw new PlatformError('FORBIDDEN', 'this needs an API key (`SvcKey-…`)')
      const { body, etag } = await effectivePoliciesOf(platform, scope, principal.key, query.agent_key ?? '')
      return isKnown(etag, header('if-none-match'))
        ? { status: 304, headers: { etag } }
        : { status: 200, body, headers: { etag } }
    },
  },
]

/** Whether If-None-Match names the tag: a list, compared weakly, as proxies weaken tags (RFC 9110 §13.1.2). */
function isKnown(etag: string, header = ''): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
