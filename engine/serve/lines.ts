// What the local engine writes of a step: the step with its decision, and the incidents it makes.
import type { Behavior, Evaluation, PolicyResult } from '@svc/schemas'
import type { ManifestInEffect } from '../source/source.js'
import { isBlocked } from '../steps.js'
import type { TraceLine } from '../trace/sink.js'

/** The step as recorded: `svc.eval` says how it was decided, `svc.manifests` on task.start what was in force (seed §2). */
export function stepLine(
  step: Behavior,
  evaluation: Evaluation,
  manifests: readonly ManifestInEffect[],
  now: number,
): TraceLine {
  const { evaluation_id, action, risk_score, policies } = evaluation
  const outcomes = policies.map(({ policy_id, name, severity, violated, manifest_id, violation_details }) => ({
    ...{ policy_id, name, severity, violated, manifest_id },
    ...(violation_details !== null && { code: violation_details.code }),
  }))
  const meta = {
    ...step.meta,
    'svc.eval': { evaluation_id, action, risk_score, policies: outcomes },
    ...(step.step_type === 'task.start' && { 'svc.manifests': manifests }),
  }
  return { kind: 'step', recorded_at: new Date(now).toISOString(), ...step, meta }
}

/** A line for each violated policy that is not waived. */
export function incidentLines(step: Behavior, policies: readonly PolicyResult[], now: number): TraceLine[] {
  return policies
    .filter(({ violated, waived }) => violated && !waived)
    .map(({ violated: _violated, rule_type: _rule, ...violation }) => ({
      kind: 'incident' as const,
      recorded_at: new Date(now).toISOString(),
      agent_id: step.agent_id ?? null,
      task_id: step.task_id ?? '',
      step: step.step ?? null,
      violation,
      reason:
        blocks(violation) && step.step !== undefined && !isBlocked(step)
          ? ('executed_although_blocked' as const)
          : ('violated' as const),
    }))
}

function blocks({ mode, severity }: Pick<PolicyResult, 'mode' | 'severity'>): boolean {
  return mode === 'enforce' && severity === 'critical'
}
