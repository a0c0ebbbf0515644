// The result of `svc explain`.
import type { Explanation } from '@svc/engine/parts'
import type { ApprovalRequired, Step } from '@svc/schemas'

/** One step with the results of the policies. */
export interface ExplainedStep extends Omit<Explanation, 'approvals'> {
  readonly task_id: string
  /** Null for a step that was evaluated but did not happen. */
  readonly step: number | null
  readonly evaluation_id: string | null
  readonly evaluated: Step
  /** With the outcome `ask`: the approvals that are missing, each with the body for /record. */
  readonly approval_required?: readonly ApprovalRequired[]
  /** Names of policies for a higher risk level than the agent's. */
  readonly skipped: readonly string[]
}
