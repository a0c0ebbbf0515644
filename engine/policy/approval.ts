// The approval of a policy: a gate that is bound to the step makes this policy pass, and no other (docs/design/engine.md §5).
import type { ApprovalRequired, Behavior, EvidenceStep, Policy } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import type { CompileEnvironment, RuleContext } from '../rules/form/rule.js'
import { compileBoundGates, unboundFields } from '../rules/gates/bound-gate.js'
import { passedGate } from '../rules/history/track.js'

/** An approval that a step lacks: what a gate of `check_type` has to carry as `input.action_digest`. */
export interface MissingApproval extends Omit<ApprovalRequired, 'gate'> {
  readonly check_type: string | null
}

/** The step of the gate that approves the evaluated step, what is missing, or null for a step that no gate can approve. */
export type ApprovalAnswer =
  | { readonly step: number | null }
  | {
      readonly missing: MissingApproval
      /** The gate by which a person said no to this very step; null without one. */
      readonly rejection: EvidenceStep | null
    }
  | null

export interface Approval {
  (context: RuleContext): ApprovalAnswer
  /** The step of the gate that approves the evaluated step, also where the policy passes without it; null without one. */
  readonly gateOf: (context: RuleContext) => number | null
}

/** Throws ParameterError for an approval on a policy that cannot ask. */
export function compileApproval(
  { approval, severity, scope, id: policy_id }: Pick<Policy, 'approval' | 'severity' | 'scope' | 'id'>,
  environment: CompileEnvironment,
): Approval | null {
  if (approval === undefined || approval === null) return null
  if (severity !== 'critical')
    throw new ParameterError(
      'approval',
      `an approval needs \`severity: critical\`: a \`${severity}\` policy blocks no step`,
    )
  if (scope !== 'step_execution')
    throw new ParameterError(
      'approval',
      `an approval needs \`scope: step_execution\`: \`${scope}\` has no step to approve`,
    )
  const { check_type, binds, max_age_seconds, uses } = approval
  const gates = compileBoundGates(environment, { check_type, binds, max_age_seconds, uses }, 'approval.binds')
  const answer = (context: RuleContext): ApprovalAnswer => {
    const bound = gates.bindingOf(context)
    if (bound === null) return null
    const found = gates.find(context, bound)
    if (found.problem === null) return { step: found.gate.step }
    const rejection = found.rejected ? found.gate : null
    const { digest: action_digest } = bound
    const binds = bound.binds && [...bound.binds]
    const unbound = context.step === null ? [] : unboundFields(context.step, binds)
    return { missing: { policy_id, action_digest, binds, unbound, check_type: check_type ?? null }, rejection }
  }
  const gateOf = (context: RuleContext) => {
    const bound = gates.areKnown(context) ? gates.bindingOf(context) : null
    const found = bound && gates.find(context, bound)
    return found?.problem === null ? found.gate.step : null
  }
  return Object.assign(answer, { gateOf })
}

/** The approvals of an answer; `body` makes the body that records a gate with the server that answers. */
export function approvalsRequired(
  missing: readonly MissingApproval[],
  body: (gate: Behavior) => ApprovalRequired['gate'],
): ApprovalRequired[] {
  return missing.map(({ check_type, ...required }) => ({
    ...required,
    gate: body(passedGate(check_type ?? undefined, required.action_digest)),
  }))
}
