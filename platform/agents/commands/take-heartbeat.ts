// Stores heartbeats of local engines (docs/design/reports.md §2).

import { maxClockSkewMs } from '@svc/report'
import { type EngineHeartbeat, isoTime, parseTimestamp } from '@svc/schemas'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import { agentNotFound } from '../errors.js'
import { agentIdOf, findAgents } from '../store/agents.js'
import { extendState, insertState, knownState, type RunState } from '../store/engines.js'
import { forgetRuns, keepEnforcing, noteRun, type SeenRun } from '../store/runs.js'

/**
 * A heartbeat after a longer pause has its own event. It is 30 s shorter than the time after which a state is unknown: a heartbeat
 * that waits for a connection, or for the clock of another process, cannot change what a report read before.
 */
const continuesWithinMs = 150_000

/**
 * Stores what the heartbeat makes known beyond earlier ones, and records an event unless it only continues the latest state.
 * Heartbeats may come late, in any order, and again. Rejects with NOT_FOUND for an agent of another API key.
 */
export async function takeHeartbeat(
  { db, clock }: Resources,
  scope: Scope,
  key: KeyIdentity,
  heartbeat: EngineHeartbeat,
): Promise<void> {
  const { begin, end } = timesOf(heartbeat, clock())
  await withTransaction(db, scope, async (tx) => {
    const agent_id = agentIdOf(key.first_key_hash, heartbeat.agent_key)
    const [agent] = await findAgents(scope, tx, [agent_id])
    if (agent === undefined || agent.api_key_id !== key.key_id) throw agentNotFound()
    const now = clock()
    const until = Math.min(end ?? now, now)
    const state = { ...heartbeat, agent_id, since: isoTime(begin) }
    const confirmed_after = now - continuesWithinMs
    if (heartbeat.ended !== true && (await extendState(scope, tx, state, { until, confirmed_after })))
      return followRun(scope, tx, now, { ...state, last_seen_at: isoTime(until), ended: false })
    await learnState(scope, tx, now, state, Math.min(begin, now), until)
  })
}

/** Checks the times of a heartbeat; the end is null for a state that lasts. */
function timesOf({ since, until }: EngineHeartbeat, now: number) {
  const begin = parseTimestamp(since) ?? now
  const end = until === undefined ? null : (parseTimestamp(until) ?? now)
  if (begin > now + maxClockSkewMs)
    throw invalid([{ path: 'since', message: `must not be in the future, found \`${since}\`` }])
  if (end !== null && end < begin)
    throw invalid([{ path: 'until', message: `must not be before \`since\`, found \`${until}\`` }])
  return { begin, end }
}

/** Stores the part of a state after what is known of it, with an event. Times are ms since 1970. */
async function learnState(
  scope: Scope,
  tx: Transaction,
  now: number,
  state: RunState & EngineHeartbeat,
  begin: number,
  until: number,
): Promise<void> {
  const { size: log_index } = await lockLog(scope, tx)
  const known = await knownState(scope, tx, state)
  if (known !== null && !isNews(known, state.ended === true, until, now)) return
  const from = known?.until ?? begin
  const { agent_id, instance_id, load_state, policy_count, version, since } = state
  const learned = { instance_id, load_state, policy_count, version, since, ended: state.ended === true }
  const seen = { seen_from: isoTime(from), last_seen_at: isoTime(Math.max(from, until)) }
  await insertState(scope, tx, log_index, { ...learned, ...seen, agent_id })
  await followRun(scope, tx, now, { ...learned, ...seen, agent_id })
  await forgetRuns(scope, tx, agent_id)
  const data = { ...learned, known_from: seen.seen_from, known_until: seen.last_seen_at }
  await recordEvents(scope, tx, now, [{ kind: 'engine.state', subject_kind: 'agent', subject_id: agent_id, data }])
}

/** Keeps the state of the agent now, which lists show. */
async function followRun(scope: Scope, tx: Transaction, now: number, run: SeenRun): Promise<void> {
  await noteRun(scope, tx, run)
  await keepEnforcing(scope, tx, run.agent_id, now)
}

/** A heartbeat that arrives shortly after the end of its run was on its way when the engine stopped. */
function isNews(known: { until: number; ended: boolean }, ended: boolean, until: number, now: number): boolean {
  if (known.ended && now - known.until < continuesWithinMs) return false
  return until > known.until || (ended && !known.ended)
}
