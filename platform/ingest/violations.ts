// Violations of entries, in the form that incidents are raised from.
import type { FoundViolation } from '../incidents/commands/raise-incidents.js'
import type { AppendedEntry } from './batch.js'

/** The violations of appended entries, each with its agent, task and entry. */
export function foundViolations(appended: readonly AppendedEntry[]): FoundViolation[] {
  return appended.flatMap(({ entry, rules, risk_score, violations, evaluation_id, effect }) =>
    violations.map((violation) => ({
      policy_id: violation.policy_id,
      agent_id: entry.agent_id,
      task_id: entry.task_id,
      log_id: entry.log_id,
      step: entry.step,
      evaluation_id,
      scope: rules.policies.get(violation.policy_id)?.scope ?? 'step_execution',
      risk_score,
      violation,
      effect,
    })),
  )
}
