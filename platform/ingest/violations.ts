// From a policy's result to what is told of it and kept of it.
import type { FoundViolation } from '../incidents/raise-command.js'
import type { PlacedEntry } from './batch.js'

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
