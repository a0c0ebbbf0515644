// A decision that waits for its step.
import type { Step } from '@svc/schemas'
import type { UnrecordedLine } from '../trace/sink.js'
import type { LocalEvaluation } from './local-evaluation.js'

/** As it is written when the step does not come. */
export type OpenDecision = Omit<UnrecordedLine, 'kind' | 'recorded_at' | 'decided_at' | 'others'> & {
  /** ms since 1970 */
  readonly at: number
}

/** `since` is on a clock that never jumps, in ms: the time of the machine may be set while a decision waits. */
export type WaitingDecision = OpenDecision & { readonly since: number }

/** One decision waits for each action in a task: an evaluation that is repeated is still one step. */
export function keyOf({ task_id, action_digest }: Pick<OpenDecision, 'task_id' | 'action_digest'>): string {
  return `${action_digest} ${task_id}`
}

/** Null for an evaluation of no step of a task. */
export function decisionOn(step: Step, evaluation: LocalEvaluation, at: number): OpenDecision | null {
  const { evaluation_id, outcome, reason, action_digest, violations } = evaluation
  const { task_id, agent_id = null, step_type, verb, step_name } = step
  if (task_id === undefined || action_digest === null) return null
  const intended = { step_type, ...(verb !== undefined && { verb }), ...(step_name !== undefined && { step_name }) }
  return {
    task_id,
    agent_id,
    evaluation_id,
    at,
    outcome,
    reason,
    action_digest,
    intended: intended as OpenDecision['intended'],
    violations: violations.map(({ policy_id, name, waived, violation_details }) => ({
      policy_id,
      name,
      code: violation_details?.code ?? null,
      ...(waived && { waived }),
    })),
  }
}
