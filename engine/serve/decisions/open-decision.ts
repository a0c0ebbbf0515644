// A decision that waits for its step.
import type { PolicyResult, Step } from '@svc/schemas'
import { digestOfGate, gateProblem } from '../../rules/gates/gate-words.js'
import type { TraceLine, UnrecordedLine } from '../../trace/sinks/sink.js'
import type { LocalEvaluation } from './local-evaluation.js'

/** As it is written when the step does not come. */
export type OpenDecision = Omit<UnrecordedLine, 'kind' | 'recorded_at' | 'decided_at' | 'others'> & {
  /** ms since 1970 */
  readonly at: number
  /** The incidents of a step that was blocked or asked about, once its agent gives it up; empty for one that was allowed. */
  readonly found: readonly IncidentViolation[]
  /** The gates that answer a question, by policy. */
  readonly gates: readonly { readonly policy_id: number; readonly action_digest: string }[]
}

type IncidentViolation = Extract<TraceLine, { kind: 'incident' }>['violation']

/** The violations that make incidents. `obeyed`: the step did not run. */
export function violationsOf(policies: readonly PolicyResult[], obeyed: boolean): IncidentViolation[] {
  return (
    policies
      .filter(({ violated, waived }) => violated && !waived)
      // A stop is a decision of people: only a step that ran anyway is worth an incident.
      .filter(({ rule_type }) => !(obeyed && rule_type === 'stopped'))
      .map(({ violated: _violated, rule_type: _rule, message: _message, ...violation }) => ({
        ...violation,
        ...withoutSteps(violation),
      }))
  )
}

/** An incident leaves out `remedy_steps`, which may repeat payloads of the step. */
function withoutSteps({ violation_details }: Pick<PolicyResult, 'violation_details'>) {
  const { remedy_steps: _, ...details } = violation_details ?? {}
  return { violation_details: details }
}

/** `since` is on a clock that never jumps, in ms: the time of the machine may be set while a decision waits. */
export type WaitingDecision = OpenDecision & { readonly since: number }

/** One decision waits for each action in a task: an evaluation that is repeated is still one step. */
export function keyOf({ task_id, action_digest }: Pick<OpenDecision, 'task_id' | 'action_digest'>): string {
  return `${action_digest} ${task_id}`
}

/** Null for an evaluation of no step of a task. */
export function decisionOn(step: Step, evaluation: LocalEvaluation, at: number): OpenDecision | null {
  const { evaluation_id, outcome, reason, action_digest, violations, blocked, approval_required = [] } = evaluation
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
    found: blocked ? violationsOf(violations, true) : [],
    gates: approval_required.map(({ policy_id, action_digest }) => ({ policy_id, action_digest })),
  }
}

/** The question after a gate: one that fails blocks the step, and the last one that passes allows it. Null: not about it. */
export function answered(decision: OpenDecision, gate: Step): OpenDecision | null {
  const digest = digestOfGate(gate)
  const own = decision.gates.filter(({ action_digest }) => action_digest === digest)
  if (decision.outcome !== 'ask' || own.length === 0) return null
  if (gateProblem(gate) !== null) return { ...decision, outcome: 'block' }
  const isOther = ({ policy_id }: { readonly policy_id: number }) => own.every((gate) => gate.policy_id !== policy_id)
  const left = {
    ...decision,
    gates: decision.gates.filter(isOther),
    violations: decision.violations.filter(isOther),
    found: decision.found.filter(isOther),
  }
  if (left.gates.length > 0) return left
  return { ...left, outcome: left.violations.length > 0 ? 'warn' : 'allow', found: [] }
}
