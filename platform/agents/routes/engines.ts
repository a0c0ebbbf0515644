import { heartbeatTimeoutMs } from '@svc/report'
import { isoTime, parseTimestamp } from '@svc/schemas'
import { type Resources, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { byKey, byReader, parameters, route } from '../../http/route.js'
import { readLogSize } from '../../ledger/log.js'
import { takeHeartbeat } from '../commands/take-heartbeat.js'
import { agentNotFound } from '../errors.js'
import { readGovernance } from '../read-governance.js'
import { findAgents } from '../store/agents.js'
import { readIntervals } from '../store/engines.js'

const tag = 'Engines'
/** The period in which the governance of an agent is shown, unless the query names another. */
const defaultPeriodMs = 30 * 86_400_000

export const engineStateRoutes = [
  route({
    method: 'post',
    path: '/api/v1/engines/heartbeat',
    summary: 'Report the state of a local engine',
    tag,
    access: byKey,
    body: 'engine-heartbeat',
    responses: { 204: null },
    handle: async ({ scope, principal, body }, parts: Resources) => {
      await takeHeartbeat(parts, scope, keyOf(principal), body)
      return { status: 204 }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/agents/{agent_id}/engines',
    summary: "List the states of an agent's local engines over time",
    tag,
    access: byReader,
    query: {
      limit: parameters.limit(1000, 100),
      from: parameters.time('begin of `governance`; default: 30 days before its end'),
      to: parameters.time('end of `governance`; default: now'),
    },
    responses: { 200: 'engine-intervals' },
    handle: async ({ scope, params, query }, parts: Resources) =>
      withSnapshot(parts.db, scope, async (tx) => {
        const { agent_id } = params
        const [agent] = await findAgents(scope, tx, [agent_id])
        if (agent === undefined) throw agentNotFound()
        const now = parts.clock()
        const period = periodOf(query, now)
        const limit = Number(query.limit ?? 100)
        const intervals = await readIntervals(scope, tx, agent_id, now - heartbeatTimeoutMs, limit)
        const { idle: _, ...governance } = await governanceNow(scope, tx, agent_id, period, now)
        return { status: 200, body: { intervals, governance: { ...period, ...governance } } }
      }),
  }),
]

/** Throws for a period that is empty, or that begins in the future. */
function periodOf(query: Readonly<Record<string, string>>, now: number) {
  const to = Math.min(parseTimestamp(query.to ?? '') ?? now, now)
  const from = parseTimestamp(query.from ?? '') ?? to - defaultPeriodMs
  if (from >= to) {
    const message = `must be before \`to\` and before now, found \`${query.from ?? isoTime(from)}\``
    throw invalid([{ path: 'from', message }])
  }
  return { from: isoTime(from), to: isoTime(to) }
}

async function governanceNow(
  scope: Scope,
  tx: Transaction,
  agent_id: string,
  period: { readonly from: string; readonly to: string },
  now: number,
) {
  const cut_off = { size: await readLogSize(scope, tx), at: isoTime(now) }
  const found = await readGovernance(scope, tx, { agent_ids: [agent_id], ...period, cut_off })
  const governance = found.get(agent_id)
  if (governance === undefined) throw agentNotFound()
  return governance
}
