// Stops agents: their next step is blocked (docs/design/platform.md §9).
import type { Stop, StopRequest } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import type { Resources, Transaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { actorText, type Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { byHand } from '../given/members.js'
import { insertPolicies, type NewPolicy } from '../store/policies.js'
import {
  agentsWithKey,
  findStop,
  hasStopOfDeactivated,
  hasTarget,
  insertStop,
  keyOfAgent,
  type NewStop,
} from '../store/stops.js'

/**
 * Stops the target, also one that another stop stops: each stop has to be resumed by itself, so that no member lifts the stop of
 * another. Rejects with INVALID unless exactly one target is named, and with NOT_FOUND for an unknown one.
 */
export function stop(parts: Resources, scope: Scope, request: StopRequest): Promise<Stop> {
  return changeAs(parts, scope, operators, async (tx, { now, log_index: from_index }) => {
    const id = newId('stp', now)
    const target = await targetOf(scope, tx, request)
    const { reason } = request
    const created_by = actorText(scope)
    const name = `Stop ${id}`
    const description = `Blocks every step until the stop is resumed: ${reason}`
    const params = { reason, stop_id: id, stopped_by: created_by }
    const made_of = { id, target, reason, created_by, from_index }
    const policy_id = await putStop(scope, tx, now, made_of, { name, description, params })
    const made = await stopIn(scope, tx, id)
    const data = { target, reason, policy_id, agents: made.agents }
    await recordEvents(scope, tx, now, [{ kind: 'stop.created', subject_kind: 'stop', subject_id: id, data }])
    await bumpConfig(scope, tx)
    return made
  })
}

/** Stops every agent that is deactivated, now and later, until it is reactivated. The caller holds the lock of the log. */
export async function stopDeactivated(scope: Scope, tx: Transaction, { now, log_index }: Moment): Promise<void> {
  if (await hasStopOfDeactivated(scope, tx)) return
  const target = { kind: 'deactivated', id: null } as const
  const reason = 'the agent is deactivated'
  const made_of = { id: newId('stp', now), target, reason, created_by: 'system', from_index: log_index }
  const name = 'Deactivated agents'
  const description = 'Blocks every step of an agent that is deactivated, until it is reactivated.'
  await putStop(scope, tx, now, made_of, { name, description, params: { deactivated: true } })
}

/** Inserts a stop with its policy, whose id it returns. */
async function putStop(
  scope: Scope,
  tx: Transaction,
  now: number,
  made: Omit<NewStop, 'policy_id'>,
  shown: Pick<NewPolicy, 'name' | 'description' | 'params'>,
): Promise<number> {
  const [policy] = await insertPolicies(scope, tx, now, null, [policyOf(made.target, shown)], made.from_index)
  if (policy === undefined) throw new Error('the policy of a stop was not inserted')
  await insertStop(scope, tx, now, { ...made, policy_id: policy.id })
  return policy.id
}

/** Rejects with NOT_FOUND. */
export async function stopIn(scope: Scope, tx: Transaction, id: string): Promise<Stop> {
  const found = await findStop(scope, tx, id)
  if (found === null) throw new PlatformError('NOT_FOUND', 'this stop does not exist: list them with GET /api/v1/stops')
  return found
}

async function targetOf(scope: Scope, tx: Transaction, request: StopRequest): Promise<Stop['target']> {
  const target = await namedTarget(scope, tx, request)
  if (request.with_key !== true) return target
  const key_id = target.kind === 'agent' ? await keyOfAgent(scope, tx, target.id ?? '') : null
  if (key_id !== null) return { kind: 'key', id: key_id }
  throw invalid([{ path: 'with_key', message: 'is only for an agent: send it with `agent_id` or `agent_key`' }])
}

async function namedTarget(scope: Scope, tx: Transaction, request: StopRequest): Promise<Stop['target']> {
  const { agent_id, agent_key, manifest_id, workspace = false } = request
  const named = { agent_id, agent_key, manifest_id, workspace: workspace || undefined }
  const given = Object.entries(named).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'no target is named' : `${given.length} targets are named`
    const message = `${found}: give one of \`agent_id\`, \`agent_key\`, \`manifest_id\` and \`"workspace": true\``
    throw invalid([{ path: given[1]?.[0] ?? 'agent_id', message }])
  }
  if (workspace) return { kind: 'workspace', id: null }
  if (agent_key !== undefined) return { kind: 'agent', id: await idOfKey(scope, tx, agent_key) }
  const kind = agent_id === undefined ? 'manifest' : 'agent'
  const id = agent_id ?? manifest_id ?? ''
  if (await hasTarget(scope, tx, kind, id)) return { kind, id }
  const remedy =
    kind === 'agent'
      ? 'no agent has this `agent_id`: send a key as `agent_key`, and list both with GET /api/v1/agents'
      : 'no agent has or had this `manifest_id`: list them with GET /api/v1/assignments'
  throw new PlatformError('NOT_FOUND', remedy)
}

async function idOfKey(scope: Scope, tx: Transaction, agent_key: string): Promise<string> {
  const [agent_id, ...others] = await agentsWithKey(scope, tx, agent_key)
  if (agent_id === undefined)
    throw new PlatformError('NOT_FOUND', 'no agent has this `agent_key`: list them with GET /api/v1/agents')
  if (others.length === 0) return agent_id
  const ids = [agent_id, ...others].map((id) => `\`${id}\``).join(', ')
  const message = `several agents have this key, under different API keys: send \`agent_id\`, one of ${ids}`
  throw invalid([{ path: 'agent_key', message }])
}

/** INVARIANT (nothing lifts a stop): its policy is critical, enforced, for every level, without approval, waiver or manifest. */
function policyOf(target: NewStop['target'], shown: Pick<NewPolicy, 'name' | 'description' | 'params'>): NewPolicy {
  return {
    ...shown,
    rule_type: 'stopped',
    scope: 'step_execution',
    severity: 'critical',
    risk_classification: null,
    agent_id: target.kind === 'agent' ? target.id : null,
    enabled: true,
    mode: 'enforce',
    approval: null,
    controls: [],
    ...byHand,
  }
}
