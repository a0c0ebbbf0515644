// From the result of a policy to the reported violation.
import type { Decision } from '@svc/engine'
import { messageOfViolation } from '@svc/engine/parts'
import type { PolicyResult, StepViolation } from '@svc/schemas'

/** The violation of a result as a list; empty when the policy passed. It `asks` when an approval would have allowed the step. */
export function stepViolation(result: PolicyResult, { approvals }: Pick<Decision, 'approvals'>): StepViolation[] {
  const { policy_id, name, severity, mode, waived, manifest_id, violation_details } = result
  if (!result.violated || violation_details === null) return []
  // The step has happened: steps to send before it are useless, and may repeat its content.
  const { remedy_steps: _, ...details } = violation_details
  const asks = approvals.some((missing) => missing.policy_id === policy_id)
  const verdict = { policy_id, name, severity, mode, waived, ...(asks && { asks }) }
  const message = messageOfViolation({ ...verdict, violation_details: details })
  return [{ ...verdict, manifest_id, message, violation_details: details }]
}
