// From a policy's result to what is told of it and kept of it.
import type { PolicyResult, StepViolation } from '@svc/schemas'
import type { FoundViolation } from '../incidents/raise-command.js'
import type { PlacedEntry } from './batch.js'

/** The violation a result is, as a list of one; nothing when the policy passed. */
export function stepViolation(result: PolicyResult): StepViolation[] {
  const { policy_id, name, severity, mode, waived, manifest_id, violation_details } = result
  if (!result.violated || violation_details === null) return []
  // The step has happened: what to send before it is of no use, and may repeat what the step holds.
  const { remedy_steps: _, ...details } = violation_details
  return [{ policy_id, name, severity, mode, waived, manifest_id, violation_details: details }]
}

/** What the violations of placed entries are to incidents. */
export function foundViolations(placed: readonly PlacedEntry[]): FoundViolation[] {
  return placed.flatMap(({ entry, rules, risk_score, violations }) =>
    violations.map((violation) => ({
      policy_id: violation.policy_id,
      agent_id: entry.agent_id,
      task_id: entry.task_id,
      log_id: entry.log_id,
      step: entry.step,
      scope: rules.policies.get(violation.policy_id)?.scope ?? 'step_execution',
      risk_score,
      violation,
    })),
  )
}
