import type { AgentChange, AgentRegistration } from '@svc/schemas'
import { type Resources, type Transaction, withSnapshot } from '../../db/db.js'
import type { Filter, Page } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { invalid } from '../../errors.js'
import { listHandler } from '../../http/paging.js'
import { keyOf } from '../../http/principal.js'
import { byKey, byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import { activate, confirmLevel, setFields } from '../commands/change-agent.js'
import { type RegistrationParts, registerAgent } from '../commands/register-agent.js'
import { agentNotFound } from '../errors.js'
import { withStateNow } from '../read-now.js'
import { agentView, findAgents, listAgents } from '../store/agents.js'
import type { WaitingEngines } from '../waiting-engines.js'

const tag = 'Agents'

type ActivationParts = Resources & Pick<WaitingEngines, 'announceChange'>

export const agentRoutes = [
  route({
    method: 'post',
    path: '/api/v1/agents',
    summary: 'Register or update an agent; idempotent by agent_key',
    tag,
    access: byKey,
    body: 'agent-registration',
    responses: { 200: 'registered-agent', 201: 'registered-agent' },
    handle: async ({ scope, principal, body }, parts: RegistrationParts) => {
      rejectNul(body)
      const { created, answer } = await registerAgent(parts, scope, keyOf(principal), body)
      return { status: created ? 201 : 200, body: answer }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/agents',
    summary: 'List agents',
    tag,
    access: byReader,
    query: {
      risk_classification: parameters.choice('risk level', valuesOf('agent', 'risk_classification')),
      environment: parameters.choice('environment', valuesOf('agent', 'environment')),
      active: parameters.flag('false for deactivated agents'),
      governed: parameters.flag('active agents whose engines all enforce policies now, or with false the others'),
      engine: parameters.flag(
        'active agents of which a local engine reported in the last three minutes, or with false the others',
      ),
      stopped: parameters.flag('agents that a stop stops now, or with false the others'),
      stop_id: parameters.text('agents that this stop stops now'),
      q: parameters.text('part of the name or key'),
      state_now: parameters.flag('false leaves out the state now: engine, governance, stops, incidents, last step'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'agent-list' },
    handle: (call, { db, clock }: Resources) => {
      const now = clock()
      const read = async (scope: Scope, tx: Transaction, filter: Filter, page: Page) => {
        const { rows, total } = await listAgents(scope, tx, now, filter, page)
        return { rows: filter.state_now === 'false' ? rows : await withStateNow(scope, tx, now, rows), total }
      }
      return listHandler('agents', read, ({ agent_id }) => agent_id)(call, { db })
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/agents/{agent_id}',
    summary: 'Get an agent',
    tag,
    access: byReader,
    responses: { 200: 'agent' },
    handle: async ({ scope, params }, parts: Resources) => {
      const [agent] = await withSnapshot(parts.db, scope, async (tx) => {
        const found = await findAgents(scope, tx, [params.agent_id])
        return withStateNow(scope, tx, parts.clock(), found.map(agentView))
      })
      if (agent === undefined) throw agentNotFound()
      return { status: 200, body: agent }
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/agents/{agent_id}',
    summary: 'Override fields of an agent; null removes the override',
    tag,
    access: byMember,
    body: 'agent-change',
    responses: { 200: 'agent' },
    handle: async ({ scope, params, body }, parts: RegistrationParts) => {
      rejectNul(body)
      return { status: 200, body: await setFields(parts, scope, params.agent_id, body) }
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/agents/{agent_id}',
    summary: 'Deactivate an agent; its steps are blocked, and not logged, until it is reactivated',
    tag,
    access: byMember,
    responses: { 200: 'agent' },
    handle: ({ scope, params }, parts: ActivationParts) => activated(parts, scope, params.agent_id, false),
  }),
  route({
    method: 'post',
    path: '/api/v1/agents/{agent_id}/reactivate',
    summary: 'Reactivate an agent',
    tag,
    access: byMember,
    responses: { 200: 'agent' },
    handle: ({ scope, params }, parts: ActivationParts) => activated(parts, scope, params.agent_id, true),
  }),
  route({
    method: 'post',
    path: '/api/v1/agents/{agent_id}/confirm',
    summary: 'Confirm the lower risk level that an agent declares',
    tag,
    access: byMember,
    body: 'agent-confirmation',
    responses: { 200: 'agent' },
    handle: async ({ scope, params, body }, parts: RegistrationParts) => ({
      status: 200,
      body: await confirmLevel(parts, scope, params.agent_id, body),
    }),
  }),
]

/** Engines of the workspace that wait for changes in this process learn it at once. */
async function activated(parts: ActivationParts, scope: Scope, agent_id: string, active: boolean) {
  const body = await activate(parts, scope, agent_id, active)
  parts.announceChange(scope.org_id)
  return { status: 200, body }
}

/** PostgreSQL cannot store the character NUL. Throws INVALID. */
function rejectNul(body: AgentRegistration | AgentChange): void {
  const fields = Object.entries(body).filter(holdsNul)
  if (fields.length > 0)
    throw invalid(
      fields.map(([path]) => ({ path: path.replaceAll('\0', ''), message: 'must not contain the character NUL' })),
    )
}

/** Checks names and values at any depth. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul)
}
