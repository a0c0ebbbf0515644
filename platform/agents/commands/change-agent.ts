// Changes of an agent by members: set its fields, deactivate and reactivate it, confirm a lower risk level.
import { canonical } from '@svc/proof'
import type { Agent, AgentChange, AgentConfirmation } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import type { Resources, Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { materialiseAgain } from '../../policies/commands/materialise-again.js'
import { stopDeactivated } from '../../policies/commands/stop.js'
import { agentNotFound } from '../errors.js'
import { type AgentRow, agentView, findAgents, putAgent, setActive } from '../store/agents.js'
import { agentValues } from './merge-registration.js'
import { evaluateRegistration, noteAgent, type RegistrationParts } from './register-agent.js'

/** Changes the agent under the lock of the log, and returns it. Rejects with NOT_FOUND. */
function changing(
  parts: Resources,
  scope: Scope,
  agent_id: string,
  change: (tx: Transaction, agent: AgentRow, moment: Moment) => Promise<void>,
): Promise<Agent> {
  return changeAs(parts, scope, operators, async (tx, moment) => {
    await change(tx, await agentOf(scope, tx, agent_id), moment)
    return agentView(await agentOf(scope, tx, agent_id))
  })
}

async function agentOf(scope: Scope, tx: Transaction, agent_id: string): Promise<AgentRow> {
  const [agent] = await findAgents(scope, tx, [agent_id])
  if (agent === undefined) throw agentNotFound()
  return agent
}

/**
 * Sets fields that override this and later registrations; null removes the override. A risk level set here is in
 * effect at once. The registration is evaluated again, and violations become incidents.
 */
export function setFields(
  parts: RegistrationParts,
  scope: Scope,
  agent_id: string,
  change: AgentChange,
): Promise<Agent> {
  return changing(parts, scope, agent_id, async (tx, known, moment) => {
    const { now } = moment
    const entries = Object.entries({ ...known.operator_set, ...change }).filter(([, value]) => value !== null)
    const operator_set = Object.fromEntries(entries)
    const { api_key_id, sent } = known
    const confirmed = 'risk_classification' in change
    const values = agentValues({ agent_id, api_key_id, known, sent, operator_set, confirmed })
    const isLevelChanged = known.effective_risk_classification !== values.effective_risk_classification
    if (isLevelChanged || canonical(known.operator_set) !== canonical(operator_set)) {
      await putAgent(scope, tx, now, values)
      if (isLevelChanged) await materialiseAgain(parts, scope, tx, moment, values)
      await noteAgent(scope, tx, now, 'agent.updated', values)
    }
    await evaluateRegistration(parts, scope, tx, now, values)
  })
}

/** Deactivates an agent, whose steps are then blocked and not logged, or reactivates it. Idempotent. */
export function activate(resources: Resources, scope: Scope, agent_id: string, active: boolean): Promise<Agent> {
  return changing(resources, scope, agent_id, async (tx, known, moment) => {
    const { now } = moment
    if (known.active === active) return
    await setActive(scope, tx, now, agent_id, active)
    if (!active) await stopDeactivated(scope, tx, moment)
    const kind = active ? 'agent.reactivated' : 'agent.deactivated'
    const data = { agent_key: known.agent_key }
    await recordEvents(scope, tx, now, [{ kind, subject_kind: 'agent', subject_id: agent_id, data }])
    await bumpConfig(scope, tx)
  })
}

/**
 * Puts a declared risk level into effect that is lower than the one in effect. Rejects with INVALID_TRANSITION when they are
 * equal, and with CONFLICT when the agent declares another level than `confirmed`.
 */
export function confirmLevel(
  parts: RegistrationParts,
  scope: Scope,
  agent_id: string,
  { risk_classification: confirmed }: AgentConfirmation,
): Promise<Agent> {
  return changing(parts, scope, agent_id, async (tx, known, moment) => {
    const { now } = moment
    const { risk_classification: declared, effective_risk_classification: effective, api_key_id, sent } = known
    if (declared === effective)
      throw new PlatformError(
        'INVALID_TRANSITION',
        `cannot confirm the risk level \`${effective}\`, which is \`in_effect\`: a lower level must be \`waiting\``,
      )
    if (confirmed !== undefined && confirmed !== declared)
      throw new PlatformError(
        'CONFLICT',
        `the agent declares \`${declared}\`, not \`${confirmed}\`: confirm that level`,
      )
    const { operator_set } = known
    const values = agentValues({ agent_id, api_key_id, known, sent, operator_set, confirmed: true })
    await putAgent(scope, tx, now, values)
    await materialiseAgain(parts, scope, tx, moment, values)
    await noteAgent(scope, tx, now, 'agent.risk_confirmed', values, { from: effective, to: declared })
  })
}
