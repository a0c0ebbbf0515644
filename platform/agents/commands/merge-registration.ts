// What an agent is after a registration or a change by an operator: what operators set, over values sent now, over values
// sent earlier, over defaults.
import { attributesOf, compareLevels, type RiskLevel } from '@svc/engine'
import type { AgentRegistration, JsonMap } from '@svc/schemas'
import type { AgentRow, AgentValues } from '../store/agents.js'

export interface Merge {
  readonly agent_id: string
  readonly api_key_id: string
  readonly known: AgentRow | null
  readonly sent: JsonMap
  /** What operators set; it precedes what the agent sends. */
  readonly operator_set: JsonMap
  /** True where an operator decides the risk level, so that a lower one needs no confirmation. */
  readonly confirmed?: boolean
}

/** Defaults fill what was never given; a lower risk level waits for an operator, a higher one applies at once. */
export function agentValues({ known, sent, operator_set, confirmed = false, ...ids }: Merge): AgentValues {
  const values = { ...sent, ...operator_set } as AgentRegistration
  const risk_classification = values.risk_classification ?? 'unclassified'
  const effective = known?.effective_risk_classification ?? risk_classification
  const waits = !confirmed && compareLevels(risk_classification, effective) < 0
  return {
    ...ids,
    agent_key: values.agent_key,
    sent,
    operator_set,
    name: values.name ?? values.agent_key,
    purpose: values.purpose ?? null,
    owner_id: values.owner_id ?? null,
    risk_classification,
    effective_risk_classification: waits ? effective : risk_classification,
    environment: values.environment ?? 'development',
    declared_tools: values.declared_tools ?? null,
    attributes: attributesOf(sent),
  }
}

/** What stays set by operators when the agent registers again: all but a risk level that the agent now raises. */
export function keptSettings(known: AgentRow | null, sent: JsonMap): JsonMap {
  const { risk_classification: set, ...others } = known?.operator_set ?? {}
  if (known === null || set === undefined) return others
  const level = sent.risk_classification as RiskLevel | undefined
  const isRaised =
    level !== undefined &&
    level !== known.sent.risk_classification &&
    compareLevels(level, known.effective_risk_classification) > 0
  return isRaised ? others : { ...others, risk_classification: set }
}
