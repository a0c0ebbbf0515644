// How a step that has happened is evaluated when it enters the log: one definition, for the platform that records the verdict
// and for the command that evaluates the record again.
import { occurredAt } from '@svc/proof'
import type { CommittedResult, JsonMap, LogRecord, Step } from '@svc/schemas'
import type { History } from '../rules/rule.js'
import type { PolicySet } from './compile.js'
import { type Decision, evaluateAndCount, type PassCounts } from './evaluate.js'
import { newHistory, occasionIn, record } from './history.js'
import type { PolicyInput } from './policy-input.js'

/** The member of `meta` that marks a step whose payloads were left out. */
export const payloadsMember = 'svc.payloads'

/** The steps of a task in the order of their arrival, indexed for one policy set. */
export interface LoggedHistory {
  readonly set: PolicySet
  readonly history: History
  /** When its last step counts as having occurred, ms since 1970; null before the first. */
  last_at: number | null
}

export interface LoggedDecision {
  readonly decision: Decision
  /** The policies that applied and whose rules passed. */
  readonly passed: Readonly<PassCounts>
  /** When the step counts as having occurred, ms since 1970: the time of the evaluation. */
  readonly at: number
}

export function newLoggedHistory(set: PolicySet): LoggedHistory {
  return { set, history: newHistory(set), last_at: null }
}

/** Evaluates the step with the history before it. `facts`: its agent; the step carries the labels of what it read. */
export function evaluateLogged(
  { set, history, last_at }: LoggedHistory,
  step: LoggedStep,
  facts: JsonMap,
): LoggedDecision {
  const at = occurredAt(step.timestamp, last_at)
  const context = { step, agent: facts, context: facts, history, now: at, happened: true }
  const passed: PassCounts = {}
  return { decision: evaluateAndCount(set, occasionIn(history, step), context, passed), passed, at }
}

/**
 * The steps of the gates that approve an evaluated step, by policy: of the policies with an approval that the step does not violate,
 * also where the gate satisfies the rule itself. Call it before `recordLogged`.
 */
export function approvingGates(
  { set, history }: LoggedHistory,
  step: LoggedStep,
  facts: JsonMap,
  { decision, at }: LoggedDecision,
): ReadonlyMap<number, number> {
  const gates = new Map<number, number>()
  const context = { step, agent: facts, context: facts, history, now: at, happened: true, readings: [] }
  for (const { policy, approval } of set.plans[occasionIn(history, step)].applicable(step)) {
    const gate = approval?.gateOf(context) ?? null
    // Few tasks have a gate with a digest: only these pay for the look-up.
    if (gate !== null && !decision.violations.some(({ policy_id }) => policy_id === policy.id))
      gates.set(policy.id, gate)
  }
  return gates
}

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

/** Adds the step to the history. */
export function recordLogged(logged: LoggedHistory, step: LoggedStep): void {
  const at = occurredAt(step.timestamp, logged.last_at)
  record(logged.set, logged.history, step, at)
  logged.last_at = at
}

/**
 * The evaluation as the record commits to it: the result of each policy, without details, and the gates that approved the
 * step (docs/design/log.md §1).
 */
export function committedResults(
  { decision: { policies }, passed }: Pick<LoggedDecision, 'decision' | 'passed'>,
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
