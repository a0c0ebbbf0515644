// The values of an agent after a registration or a change. Precedence: set by members, sent now, sent earlier, default.
import type { RiskLevel } from '@svc/engine'
import { attributesOf, compareLevels } from '@svc/engine/parts'
import type { AgentRegistration, JsonMap } from '@svc/schemas'
import type { AgentRow, AgentValues } from '../store/agents.js'

interface Merge {
  readonly agent_id: string
  readonly api_key_id: string
  readonly known: AgentRow | null
  readonly sent: JsonMap
  /** Set by members; overrides `sent`. */
  readonly operator_set: JsonMap
  /** True when a member sets the risk level, so that a lower one needs no confirmation. */
  readonly confirmed?: boolean
}

/** Merges the values. A higher risk level is in effect at once; a lower one waits for confirmation. */
export function agentValues({ known, sent, operator_set, confirmed = false, ...ids }: Merge): AgentValues {
  const values = { ...sent, ...operator_set } as AgentRegistration
  const risk_classification = values.risk_classification ?? 'unclassified'
  const effective = known?.effective_risk_classification ?? risk_classification
  const is_pending = !confirmed && compareLevels(risk_classification, effective) < 0
  return {
    ...ids,
    agent_key: values.agent_key,
    sent,
    operator_set,
    name: values.name ?? values.agent_key,
    purpose: values.purpose ?? null,
    owner_id: values.owner_id ?? null,
    risk_classification,
    effective_risk_classification: is_pending ? effective : risk_classification,
    environment: values.environment ?? 'development',
    declared_tools: values.declared_tools ?? null,
    attributes: attributesOf(sent),
  }
}

/** The overrides that remain when the agent registers again: all but a risk level that the agent now raises. */
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
