import type { AgentChange, AgentConfirmation, AgentRegistration } from '@svc/schemas'
import { activate, confirmLevel, setFields } from '../commands/change-agent.js'
import { registerAgent } from '../commands/register-agent.js'
import { invalid, PlatformError } from '../../errors.js'
import { byKey, byMember, byReader, type Call, parameters, type Route } from '../../http/route.js'
import { agentView, findAgents } from '../store/agents.js'
import { withSnapshot } from '../../db/db.js'
import { listAgents } from '../../db/lists.js'
import { listReply, pageOf } from '../../http/paging.js'

const tag = 'Agents'
const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified']
const environments = ['development', 'test', 'staging', 'production']

export const agentRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/v1/agents',
    summary: 'Register an agent, or update it: idempotent by agent_key',
    tag,
    access: byKey,
    body: 'agent-registration',
    responses: { 200: 'registered-agent', 201: 'registered-agent' },
    handle: async ({ platform, scope, principal, body }) => {
      const registration = body as AgentRegistration
      refuseNul(registration)
      if (principal.kind !== 'key') throw new PlatformError('FORBIDDEN', 'agents register themselves, with an API key')
      const { created, answer } = await registerAgent(platform, scope, principal.key, registration)
      return { status: created ? 201 : 200, body: answer }
    },
  },
  {
    method: 'get',
    path: '/api/v1/agents',
    summary: 'List agents',
    tag,
    access: byReader,
    query: {
      ...{
        risk_classification: parameters.choice('risk level', levels),
        environment: parameters.choice('environment', environments),
      },
      ...{ active: parameters.flag('deactivated ones or not'), q: parameters.text('part of the name or key') },
      ...{ limit: parameters.limit(200, 50), cursor: parameters.cursor },
    },
    responses: { 200: 'agent-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      const listed = await withSnapshot(platform.db, scope, (tx) => listAgents(scope, tx, query, page))
      return listReply('agents', listed, page, (agent) => agent.agent_id)
    },
  },
  {
    method: 'get',
    path: '/api/v1/agents/{agent_id}',
    summary: 'One agent',
    tag,
    access: byReader,
    responses: { 200: 'agent' },
    handle: async ({ platform, scope, params }: Call) => {
      const [agent] = await withSnapshot(platform.db, scope, (tx) => findAgents(scope, tx, [params.agent_id ?? '']))
      if (agent === undefined) throw new PlatformError('NOT_FOUND', 'no such agent')
      return { status: 200, body: agentView(agent) }
    },
  },
  {
    method: 'patch',
    path: '/api/v1/agents/{agent_id}',
    summary: 'Set fields of an agent over what it sends; null takes what it sends again',
    tag,
    access: byMember,
    body: 'agent-change',
    responses: { 200: 'agent' },
    handle: async ({ platform, scope, params, body }) => {
      refuseNul(body as AgentChange)
      return { status: 200, body: await setFields(platform, scope, params.agent_id ?? '', body as AgentChange) }
    },
  },
  {
    method: 'delete',
    path: '/api/v1/agents/{agent_id}',
    summary: 'Deactivate an agent: its steps are refused until it is reactivated, and its records stay',
    tag,
    access: byMember,
    responses: { 200: 'agent' },
    handle: async ({ platform, scope, params }) => ({
      status: 200,
      body: await activate(platform, scope, params.agent_id ?? '', false),
    }),
  },
  {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/reactivate',
    summary: 'Reactivate a deactivated agent',
    tag,
    access: byMember,
    responses: { 200: 'agent' },
    handle: async ({ platform, scope, params }) => ({
      status: 200,
      body: await activate(platform, scope, params.agent_id ?? '', true),
    }),
  },
  {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/confirm',
    summary: 'Confirm the lower risk level that an agent declares',
    tag,
    access: byMember,
    body: 'agent-confirmation',
    responses: { 200: 'agent' },
    handle: async ({ platform, scope, params, body }) => ({
      status: 200,
      body: await confirmLevel(platform, scope, params.agent_id ?? '', body as AgentConfirmation),
    }),
  },
]

/** The database cannot hold the character NUL in text. */
function refuseNul(body: AgentRegistration | AgentChange): void {
  const fields = Object.entries(body).filter(holdsNul)
  if (fields.length > 0)
    throw invalid(
      fields.map(([path]) => ({ path: path.replaceAll('\0', ''), message: 'the character NUL is not allowed' })),
    )
}

/** Looks at names and values at any depth. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul)
}
