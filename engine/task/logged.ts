// Steps and evaluations as the log records them: one definition, for the platform that records the verdict and for the command
// that evaluates the record again.
import type { CommittedResult, JsonMap, LogRecord, Step } from '@svc/schemas'
import type { PolicyInput } from '../policy/policy-input.js'
import type { RecordedDecision } from './task.js'

/** The member of `meta` that marks a step whose payloads were left out. */
export const payloadsMember = 'svc.payloads'

/** A step of the log, which always has the time that its sender claims. */
export type LoggedStep = Step & { readonly timestamp: string }

/** Members of a record that are members of its step. */
export const stepColumns = [
  'agent_id',
  'task_id',
  'step',
  'step_type',
  'timestamp',
  'is_external_call',
  'has_write_permission',
] as const

export type StepColumns = Pick<LogRecord, (typeof stepColumns)[number]>

/** The step of a record as rules read it, with the values of its payload; none once it is erased. */
export function stepOfRecord(record: StepColumns, { evaluation: _, ...payload }: JsonMap): LoggedStep {
  const { agent_id, task_id, step, step_type, timestamp, is_external_call, has_write_permission } = record
  return { ...payload, agent_id, task_id, step, step_type, timestamp, is_external_call, has_write_permission }
}

/**
 * The evaluation as the record commits to it: the result of each policy, without details, and the gates that approved the
 * step (docs/design/log.md §1).
 */
export function committedResults(
  { decision: { policies }, passed }: Pick<RecordedDecision, 'decision' | 'passed'>,
  inputs: ReadonlyMap<number, Pick<PolicyInput, 'version'>>,
): CommittedResult[] {
  return policies.map(({ policy_id, violated, violation_details, approved_by_step }) => ({
    policy_id,
    version: inputs.get(policy_id)?.version ?? 0,
    violated,
    code: violation_details?.code ?? null,
    ...(approved_by_step !== undefined && { approved_by_step }),
    // Every other policy that is not violated was not applicable to the step.
    ...(!violated && approved_by_step === undefined && passed[policy_id] !== undefined && { applied: true as const }),
  }))
}
