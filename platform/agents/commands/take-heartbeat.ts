// Stores heartbeats of local engines.

import { type EngineHeartbeat, isoTime, parseTimestamp } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { agentNotFound } from '../errors.js'
import { agentIdOf, findAgents } from '../store/agents.js'
import { putInterval } from '../store/engines.js'

/** The maximum difference between clocks that is accepted. */
const maxClockSkewMs = 300_000

/** Stores the interval, and records an event if it is new. Rejects with NOT_FOUND for an agent of another API key. */
export async function takeHeartbeat(
  { db, clock }: Resources,
  scope: Scope,
  key: KeyIdentity,
  heartbeat: EngineHeartbeat,
): Promise<void> {
  const now = clock()
  const begin = parseTimestamp(heartbeat.since) ?? now
  const end = parseTimestamp(heartbeat.until ?? '') ?? now
  if (begin > now + maxClockSkewMs)
    throw invalid([{ path: 'since', message: `must not be in the future, found \`${heartbeat.since}\`` }])
  if (end < begin)
    throw invalid([{ path: 'until', message: `must not be before \`since\`, found \`${heartbeat.until}\`` }])
  await withTransaction(db, scope, async (tx) => {
    const agent_id = agentIdOf(key.first_key_hash, heartbeat.agent_key)
    const [agent] = await findAgents(scope, tx, [agent_id])
    if (agent === undefined || agent.api_key_id !== key.key_id) throw agentNotFound()
    const seen_at = Math.min(end, now)
    const since = isoTime(begin)
    if (!(await putInterval(scope, tx, agent_id, { ...heartbeat, since }, seen_at))) return
    const { instance_id, load_state, policy_count, version } = heartbeat
    const data = { instance_id, load_state, policy_count, version, since }
    await recordEvents(scope, tx, now, [{ kind: 'engine.state', subject_kind: 'agent', subject_id: agent_id, data }])
  })
}
