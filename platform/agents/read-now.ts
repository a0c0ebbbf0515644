// The state of agents now: their engines, whether they are governed, their stops, open incidents and last steps.
import { type AgentFacts, governanceOf, type KnownInterval } from '@svc/report'
import { type Agent, isoTime } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { enforcedNow } from '../policies/store/enforced.js'
import { stoppedAgents } from '../policies/store/stops.js'
import { groupByAgent } from './group-by-agent.js'
import { activityOf } from './store/activity.js'
import { runsOf, type StoredRun } from './store/runs.js'

type Engine = NonNullable<Agent['engine']>
type Governance = NonNullable<Agent['governance']>
type Reason = NonNullable<Governance['reason']>

/** The agents with their state at `now` (ms since 1970). */
export async function withStateNow(
  scope: Scope,
  tx: Transaction,
  now: number,
  agents: readonly Agent[],
): Promise<Agent[]> {
  const agent_ids = agents.map(({ agent_id }) => agent_id)
  const runs = groupByAgent(await runsOf(scope, tx, agent_ids))
  const enforced = await enforcedNow(scope, tx, now, agent_ids)
  const targets = new Set(enforced.map(({ agent_id, target_level }) => `${agent_id} ${target_level}`))
  const stopped = [...(await stoppedAgents(scope, tx, agent_ids)).values()]
  const activity = await activityOf(scope, tx, agent_ids)
  return agents.map((agent) => {
    const { agent_id, effective_risk_classification: level } = agent
    const engine = engineNow(runs.get(agent_id) ?? [], now)
    const isEnforced = [agent_id, ''].some((id) => targets.has(`${id} `) || targets.has(`${id} ${level}`))
    return {
      ...agent,
      engine,
      governance: governanceNow(agent.active, isEnforced, engine.state),
      stopped: stopped.some((ids) => ids.has(agent_id)),
      open_incidents: activity.get(agent_id)?.open_incidents ?? 0,
      last_step_at: activity.get(agent_id)?.last_step_at ?? null,
    }
  })
}

/** The strongest state of the runs, as the report decides it for the last millisecond, and the run that it is of. */
function engineNow(runs: readonly StoredRun[], now: number): Engine {
  const window = [{ from: now, to: now + 1 }]
  const facts: AgentFacts = { counted: window, enforced: window, intervals: runs.flatMap(intervalsOf), at: now + 1 }
  const { intervals } = governanceOf(facts)
  const [strongest] = intervals.toSorted((a, b) => rankOf(a.reason) - rankOf(b.reason))
  const [latest] = runs.toSorted((a, b) => b.last_seen_at - a.last_seen_at)
  if (latest === undefined)
    return { state: 'no_engine', instance_id: null, version: null, policy_count: null, last_seen: null }
  const shown = runs.find(({ instance_id }) => instance_id === strongest?.instance_id) ?? latest
  const { load_state, instance_id, version, policy_count, last_seen_at } = shown
  const state = (strongest?.reason ?? load_state) as Engine['state']
  return { state, instance_id, version, policy_count, last_seen: isoTime(last_seen_at) }
}

/** The state of a run, and what was heard of the run after it. */
function intervalsOf({ state_seen_at, ...run }: StoredRun): KnownInterval[] {
  const latest = { ...run, last_seen_at: state_seen_at }
  return state_seen_at === run.last_seen_at ? [latest] : [latest, { ...run, since: run.seen_from - 1, ended: false }]
}

/** The order in which one reason counts before another. */
const reasons: readonly string[] = ['unavailable', 'all_dropped', 'none_configured', 'silent', 'no_engine', 'stopped']

function rankOf(reason: string): number {
  return reasons.indexOf(reason)
}

function governanceNow(active: boolean, isEnforced: boolean, state: Engine['state']): Governance {
  if (!active) return { state: 'inactive', reason: 'deactivated' }
  if (!isEnforced) return { state: 'ungoverned', reason: 'no_policy' }
  if (state === 'enforcing' || state === 'stale_cache') return { state: 'governed', reason: null }
  return { state: stateOf(state), reason: state }
}

function stateOf(reason: Reason): Governance['state'] {
  if (reason === 'stopped') return 'idle'
  return reason === 'silent' || reason === 'no_engine' ? 'unknown' : 'ungoverned'
}
