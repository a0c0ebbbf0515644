// A local engine says in which state it is, or was.

import { type EngineHeartbeat, parseTimestamp } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { agentIdOf, findAgents } from '../store/agents.js'
import { putInterval } from '../store/engines.js'

/** Clocks differ; by more than this one of them is wrong, ms. */
const mostAhead = 300_000

/** Keeps the interval, with an event when it is new. Rejects with NOT_FOUND for an agent that is not this key's. */
export async function takeHeartbeat(
  { db, clock }: Resources,
  scope: Scope,
  key: KeyIdentity,
  heartbeat: EngineHeartbeat,
): Promise<void> {
  const now = clock()
  const begin = parseTimestamp(heartbeat.since) ?? now
  const end = parseTimestamp(heartbeat.until ?? '') ?? now
  if (begin > now + mostAhead) throw invalid([{ path: 'since', message: 'lies in the future' }])
  if (end < begin) throw invalid([{ path: 'until', message: 'is before `since`' }])
  await withTransaction(db, scope, async (tx) => {
    const agent_id = agentIdOf(key.first_key_hash, heartbeat.agent_key)
    const [agent] = await findAgents(scope, tx, [agent_id])
    if (agent === undefined || agent.api_key_id !== key.key_id) throw new PlatformError('NOT_FOUND', 'no such agent')
    const seen_at = Math.min(end, now)
    const since = new Date(begin).toISOString()
    if (!(await putInterval(scope, tx, agent_id, { ...heartbeat, since }, seen_at))) return
    const { instance_id, load_state, policy_count, version } = heartbeat
    const data = { instance_id, load_state, policy_count, version, since }
    await recordEvents(scope, tx, now, [{ kind: 'engine.state', subject_kind: 'agent', subject_id: agent_id, data }])
  })
}
