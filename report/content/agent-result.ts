// The facts of one agent in a report.
import type { Governance } from '../governance/governance.js'

export interface AgentResult {
  readonly agent_id: string
  readonly agent_key: string
  readonly name: string
  readonly purpose: string | null
  /** In effect. */
  readonly risk_classification: string
  readonly environment: string
  readonly active: boolean
  readonly registered_at: string | null
  readonly tasks: number
  readonly steps: number
  /** Those that no local engine evaluated before they ran. */
  readonly undecided_steps: number
  readonly violations: number
  readonly incidents: number
  /** The first and the last step of the period. */
  readonly first_step_at: string | null
  readonly last_step_at: string | null
  readonly governance: Governance
}
