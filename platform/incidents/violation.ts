// From the result of a policy to the reported violation.
import type { PolicyResult, StepViolation } from '@svc/schemas'

/** The violation of a result as a list; empty when the policy passed. */
export function stepViolation(result: PolicyResult): StepViolation[] {
  const { policy_id, name, severity, mode, waived, manifest_id, violation_details } = result
  if (!result.violated || violation_details === null) return []
  // The step has happened: steps to send before it are useless, and may repeat its content.
  const { remedy_steps: _, ...details } = violation_details
  return [{ policy_id, name, severity, mode, waived, manifest_id, violation_details: details }]
}
