// From a policy's result to the violation that is reported.
import type { PolicyResult, StepViolation } from '@svc/schemas'

/** The violation a result is, as a list of one; nothing when the policy passed. */
export function stepViolation(result: PolicyResult): StepViolation[] {
  const { policy_id, name, severity, mode, waived, manifest_id, violation_details } = result
  if (!result.violated || violation_details === null) return []
  // The step has happened: what to send before it is of no use, and may repeat what the step holds.
  const { remedy_steps: _, ...details } = violation_details
  return [{ policy_id, name, severity, mode, waived, manifest_id, violation_details: details }]
}
