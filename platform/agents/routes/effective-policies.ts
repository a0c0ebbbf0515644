import { PlatformError } from '../../errors.js'
import { isKnown } from '../../http/etag.js'
import { keyOf } from '../../http/principal.js'
import { byReadingKey, type Call, parameters, type Reply, route } from '../../http/route.js'
import { effectivePoliciesOf, type PolicyParts } from '../commands/effective-policies.js'
import { agentIdOf } from '../store/agents.js'
import type { WaitingEngines } from '../waiting-engines.js'

const tag = 'Policies'

type EffectiveParts = PolicyParts & { readonly waiting_engines: WaitingEngines }

export const effectivePolicyRoutes = [
  route({
    method: 'get',
    path: '/api/v1/policies/effective',
    summary: 'Get the policies in effect for an agent, as local engines do; `Prefer: wait=25` waits for a change',
    tag,
    access: byReadingKey,
    query: { agent_key: parameters.text('key of the agent') },
    required: ['agent_key'],
    responses: { 200: 'effective-policies', 304: null },
    handle: async (call, parts: EffectiveParts) => {
      const ms = waitMs(call.header('prefer'))
      const leave = ms === 0 ? null : parts.waiting_engines.enter(call.scope.org_id, keyOf(call.principal).key_id)
      try {
        const reply = await answer(call, parts, leave === null ? 0 : ms)
        const applied = leave === null ? {} : { 'preference-applied': `wait=${ms / 1000}` }
        return { ...reply, headers: { ...reply.headers, ...applied } }
      } finally {
        leave?.()
      }
    },
  }),
]

/** The longest wait, seconds: proxies close connections that are idle for a minute, some for half of one. */
const maxWaitSeconds = 25

/** The wait of the header Prefer, ms (RFC 7240 §4.3); 0 without one. */
function waitMs(prefer = ''): number {
  const found = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=$|[,;])/i.exec(prefer)
  return Math.min(Number(found?.[1] ?? 0), maxWaitSeconds) * 1000
}

/** The policies, or 304 when `ms` pass without a change. Rejects with NOT_FOUND for an agent that this key has not registered. */
async function answer(call: Call, parts: EffectiveParts, ms: number): Promise<Reply> {
  const { scope, principal, query, header } = call
  const { waiting_engines } = parts
  const { key_id, first_key_hash } = keyOf(principal)
  const agent_key = query.agent_key ?? ''
  const agent_id = agentIdOf(first_key_hash, agent_key)
  const sent = header('if-none-match')
  const until = performance.now() + ms
  let known = waiting_engines.known(scope.org_id, agent_id)
  for (;;) {
    if (known === null || ms === 0 || !isKnown(known.etag, sent)) {
      const { config_version, agents } = await (ms > 0
        ? waiting_engines.load(scope, agent_id)
        : effectivePoliciesOf(parts, scope, [agent_id], false))
      const now = agents.get(agent_id)
      if (now === undefined)
        throw new PlatformError('NOT_FOUND', `this API key has no agent \`${agent_key}\`: register it first`)
      if (!isKnown(now.etag, sent)) return { status: 200, body: now.body, headers: { etag: now.etag } }
      known = { etag: now.etag, config_version, mark: now.mark }
    }
    const { etag } = known
    const left = until - performance.now()
    if (left <= 0 || waiting_engines.isClosed()) return { status: 304, headers: { etag } }
    const waited = await waiting_engines.wait({ scope, key_id, agent_id, ...known }, left, call.gone())
    // The key may have been revoked meanwhile.
    await call.authenticateAgain()
    if (waited.kind === 'changed')
      return { status: 200, body: waited.answer.body, headers: { etag: waited.answer.etag } }
    if (waited.kind === 'over' || call.gone().aborted) return { status: 304, headers: { etag } }
    known = waiting_engines.known(scope.org_id, agent_id)
  }
}
