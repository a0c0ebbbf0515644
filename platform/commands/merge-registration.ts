// What an agent is after a registration: values sent now over values sent earlier, then defaults.
import { attributesOf, compareLevels, type JsonMap, type RiskLevel } from '@svc/engine'
import type { AgentRegistration } from '@svc/schemas'
import type { AgentRow, AgentValues } from '../store/agents.js'

export interface Merge {
  readonly agent_id: string
  readonly api_key_id: string
  readonly known: AgentRow | null
  readonly sent: JsonMap
}

/** Defaults fill what was never sent; a lower risk level waits for an operator, a higher one applies at once. */
export function agentValues({ agent_id, api_key_id, known, sent }: Merge): AgentValues {
  const registration = sent as AgentRegistration
  const asked = registration.risk_classification ?? 'unclassified'
  const lowered = known !== null && compareLevels(asked, known.risk_classification) < 0
  const risk_classification: RiskLevel = lowered ? known.risk_classification : asked
  return {
    agent_id,
    api_key_id,
    agent_key: registration.agent_key,
    sent,
    name: registration.name ?? registration.agent_key,
    purpose: registration.purpose ?? null,
    owner_id: registration.owner_id ?? null,
    risk_classification,
    pending_risk_classification: lowered ? asked : null,
    environment: registration.environment ?? 'development',
    declared_tools: registration.declared_tools ?? null,
    attributes: attributesOf(sent),
  }
}
