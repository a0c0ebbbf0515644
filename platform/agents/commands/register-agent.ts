// Registers an agent (docs/design/platform.md §2). Idempotent; a new agent gets the baseline before its registration is evaluated.

import { compile, registrationFacts, Task } from '@svc/engine'
import { quote } from '@svc/engine/parts'
import { canonical } from '@svc/proof'
import type { AgentRegistration, JsonMap, RegisteredAgent } from '@svc/schemas'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import { raiseIncidents } from '../../incidents/commands/raise-incidents.js'
import { stepViolation } from '../../incidents/violation.js'
import { recordEvents } from '../../ledger/events.js'
import { bumpConfig, lockLog } from '../../ledger/log.js'
import { materialiseAgain } from '../../policies/commands/materialise-again.js'
import { type BaselineParts, putBaseline } from '../../policies/commands/put-baseline.js'
import { effectivePolicies } from '../../policies/store/policies.js'
import { agentDeactivated } from '../errors.js'
import {
  type AgentValues,
  agentFacts,
  agentIdOf,
  findAgents,
  keepSpelling,
  putAgent,
  similarAgent,
} from '../store/agents.js'
import { agentValues, keptSettings } from './merge-registration.js'

export interface Registration {
  readonly created: boolean
  readonly answer: RegisteredAgent
}

/** Characters of facts in the audit trail, whose pages have 200 events; a registration has up to a million. */
const maxShownFacts = 5_000

/** The events that hold the facts of an agent; no retention deletes them (docs/design/log.md §7). */
type AgentChangeKind = 'agent.registered' | 'agent.updated' | 'agent.risk_confirmed'

export type RegistrationParts = Resources & BaselineParts & Triggering

/**
 * Creates the agent, or merges the body over earlier registrations. Violations become incidents and do not reject the request.
 * `spelling`: the id that the sender has for the agent, where it cannot be a key.
 */
export async function registerAgent(
  parts: RegistrationParts,
  scope: Scope,
  key: KeyIdentity,
  body: AgentRegistration,
  spelling = body.agent_key,
): Promise<Registration> {
  const now = parts.clock()
  const agent_id = agentIdOf(key.first_key_hash, body.agent_key)
  return withTransaction(parts.db, scope, async (tx) => {
    const { size: log_index } = await lockLog(scope, tx)
    const [known] = await findAgents(scope, tx, [agent_id])
    if (known !== undefined && !known.active) throw agentDeactivated(body.agent_key)
    if (known === undefined) await assertNoTwin(scope, tx, key, { agent_id, spelling })
    const sent: JsonMap = { ...known?.sent, ...body }
    const operator_set = keptSettings(known ?? null, sent)
    const values = agentValues({ agent_id, api_key_id: key.key_id, known: known ?? null, sent, operator_set })
    const changed =
      known === undefined || canonical([known.sent, known.operator_set]) !== canonical([sent, operator_set])
    if (changed) await putAgent(scope, tx, now, values)
    if (known === undefined) await keepSpelling(scope, tx, agent_id, spelling)
    // The log shows an agent before what is put on it.
    if (changed) await noteAgent(scope, tx, now, known === undefined ? 'agent.registered' : 'agent.updated', values)
    if (known === undefined) await putBaseline(parts, scope, tx, { now, log_index }, values)
    else if (known.effective_risk_classification !== values.effective_risk_classification)
      await materialiseAgain(parts, scope, tx, { now, log_index }, values)
    const violations = await evaluateRegistration(parts, scope, tx, now, values)
    return {
      created: known === undefined,
      answer: {
        agent_id,
        registration_status: known === undefined ? 'created' : 'updated',
        violations,
        ...waitingLevel(values),
      },
    }
  })
}

/** The warning about a lowered risk level, which waits for a person. */
function waitingLevel({
  agent_id,
  risk_classification: declared,
  effective_risk_classification: effective,
}: AgentValues) {
  if (declared === effective) return {}
  const until = `until a member confirms it with POST /api/v1/agents/${agent_id}/confirm`
  return { warnings: [`the risk level \`${declared}\` waits ${until}: policies use \`${effective}\``] }
}

/** A stopped or deactivated agent must not be free under a key that reads the same. Throws CONFLICT. */
async function assertNoTwin(
  scope: Scope,
  tx: Transaction,
  { key_id }: KeyIdentity,
  agent: { readonly agent_id: string; readonly spelling: string },
): Promise<void> {
  const similar = await similarAgent(scope, tx, key_id, agent)
  if (similar === null) return
  const { agent_key, name } = similar
  const known = name === agent_key ? quote(agent_key) : `${quote(agent_key)} (${quote(name)})`
  const message = `the agent ${known} has this \`agent_key\` but for case, outer spaces and Unicode form: send that key, or one that reads differently`
  throw new PlatformError('CONFLICT', message, { errors: [{ path: 'agent_key', message }] })
}

/**
 * Records an event of the change, and invalidates the cached agent in every process. The event holds the agent as rules see
 * it, so that the log itself shows with which facts the steps after it were evaluated.
 */
export async function noteAgent(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: AgentChangeKind,
  agent: AgentValues,
  more: JsonMap = {},
) {
  const { agent_id, agent_key, risk_classification, effective_risk_classification } = agent
  const facts = agentFacts(agent)
  const shown = canonical(facts).length <= maxShownFacts ? facts : null
  const data = { agent_key, risk_classification, effective_risk_classification, ...more, facts: shown }
  const event = { kind, subject_kind: 'agent', subject_id: agent_id, data, in_leaf: { facts } }
  await recordEvents(scope, tx, now, [event])
  await bumpConfig(scope, tx)
}

/** Evaluates the registration with the fields as sent or set, without defaults. Violations become incidents. */
export async function evaluateRegistration(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  agent: AgentValues,
) {
  const effective = (await effectivePolicies(scope, tx, [agent])).get(agent.agent_id) ?? []
  // Only these apply; compiling the others takes 3 ms, and no record names the set of a registration.
  const set = compile(effective.filter((policy) => policy.scope === 'agent_registration'))
  const facts = registrationFacts({ ...agent.sent, ...agent.operator_set }, agent.agent_id)
  const decision = new Task(set).evaluate(null, facts, { now })
  const violations = decision.policies.flatMap((result) => stepViolation(result, decision))
  const { agent_id } = agent
  const where = {
    agent_id,
    task_id: null,
    log_id: null,
    step: null,
    evaluation_id: null,
    scope: 'agent_registration' as const,
    // The agent is registered, whatever its registration violates.
    effect: 'executed' as const,
  }
  const found = violations.map((violation) => ({
    ...where,
    policy_id: violation.policy_id,
    risk_score: decision.risk_score,
    violation,
  }))
  await raiseIncidents(triggering, scope, tx, now, found)
  return violations
}
