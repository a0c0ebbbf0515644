// What the local engine writes of a step: the step with its decision, and the incidents it makes.
import type { Behavior, JsonMap, PolicyResult } from '@svc/schemas'
import type { ManifestInEffect } from '../source/source.js'
import type { TraceLine } from '../trace/sink.js'
import type { JudgedEvaluation } from './judged.js'

/** The step as recorded: `svc.eval` says how it was decided, `svc.manifests` on task.start what was in force (docs/design/engine.md §7). */
export function stepLine(
  step: Behavior,
  evaluation: JudgedEvaluation,
  manifests: readonly ManifestInEffect[],
  now: number,
): TraceLine {
  const { evaluation_id, action, risk_score, policies } = evaluation
  const outcomes = policies.map(({ policy_id, name, severity, violated, manifest_id, violation_details }) => ({
    ...{ policy_id, name, severity, violated, manifest_id },
    ...(violation_details !== null && { code: violation_details.code }),
  }))
  // These two are the engine's own words: what an agent sends under their names is not kept.
  const { 'svc.eval': _eval, 'svc.manifests': _manifests, ...sent } = step.meta ?? {}
  const meta = {
    ...sent,
    'svc.eval': { evaluation_id, action, risk_score, policies: outcomes },
    ...(step.step_type === 'task.start' && { 'svc.manifests': manifests }),
  }
  // The task comes first, where whoever reads the trace back looks for it.
  const { task_id = '' } = step
  return { kind: 'step', recorded_at: new Date(now).toISOString(), task_id, ...step, meta }
}

/** A step that is not to be carried out, with the decision; `agent` is what the policies saw of it. */
export function evaluationLine(
  intended: Behavior & { readonly task_id: string },
  agent: JsonMap,
  { evaluation_id, action, outcome, reason, violations }: JudgedEvaluation,
  now: number,
): TraceLine {
  const rows = violations.map(({ policy_id, name, violation_details }) => ({
    policy_id,
    name,
    code: violation_details?.code ?? null,
  }))
  const { task_id } = intended
  const decision = { action, outcome, reason, violations: rows }
  return {
    kind: 'evaluation',
    recorded_at: new Date(now).toISOString(),
    task_id,
    evaluation_id,
    agent,
    intended,
    decision,
  }
}

/**
 * A line for each violated policy that is not waived. `blocked` says that the step was not to be carried out;
 * a registration has no task and no step.
 */
export function incidentLines(
  step: Partial<Behavior>,
  policies: readonly PolicyResult[],
  now: number,
  blocked = false,
): TraceLine[] {
  const defied = blocked && step.output?.status !== 'blocked'
  return policies
    .filter(({ violated, waived }) => violated && !waived)
    .map(({ violated: _violated, rule_type: _rule, ...violation }) => ({ ...violation, ...withoutSteps(violation) }))
    .map((violation) => ({
      kind: 'incident' as const,
      recorded_at: new Date(now).toISOString(),
      agent_id: step.agent_id ?? null,
      task_id: step.task_id ?? null,
      step: step.step ?? null,
      violation,
      reason: defied && blocks(violation) ? ('executed_although_blocked' as const) : ('violated' as const),
    }))
}

/** An incident says what would have allowed the step, not what to send: that may repeat what the step holds. */
function withoutSteps({ violation_details }: Pick<PolicyResult, 'violation_details'>) {
  const { remedy_steps: _, ...details } = violation_details ?? {}
  return { violation_details: details }
}

function blocks({ mode, severity }: Pick<PolicyResult, 'mode' | 'severity'>): boolean {
  return mode === 'enforce' && severity === 'critical'
}
