// Trace lines of the local engine: a step with its decision, a blocked evaluation, and incidents.
import { type Behavior, canonicalType, isBlocked, isoTime, type JsonMap, type PolicyResult } from '@svc/schemas'
import { toolsMember } from '../rules/selection/task-tools.js'
import type { ManifestInEffect } from '../source/source.js'
import { payloadsMember } from '../task/logged.js'
import type { TraceLine } from '../trace/sinks/sink.js'
import type { LocalEvaluation } from './decisions/local-evaluation.js'
import { type OpenDecision, violationsOf } from './decisions/open-decision.js'

/** Members that the engine adds to the line of a step. */
export interface StepFacts {
  /** The manifests that apply to the task. */
  readonly manifests: readonly Omit<ManifestInEffect, 'pin'>[]
  /** False for a decision of a time when the source had given no policies: a task that is read back takes the current ones. */
  readonly versions_known: boolean
  /** The tools of the task when a context changed them since the last line; null otherwise. */
  readonly tools: readonly unknown[] | null
  readonly now: number
}

/** True if the agent does something outside by the step, which can be evaluated before; a blocked one was not done. */
export function isAct(step: Behavior): boolean {
  const type = canonicalType(step.step_type)
  const isReceived = type === 'step.message' && step.verb === 'GET'
  return type.startsWith('step.') && type !== 'step.gate' && !isReceived && !isBlocked(step)
}

/** Members of `meta` that only the engine writes, beside the labels of memory. */
const ownMembers = ['svc.eval', 'svc.late', 'svc.manifests', 'svc.end', toolsMember, payloadsMember]

/** The step without what the agent sent in the place of these members: it must not look like a statement of the engine. */
export function withoutOwnMembers(step: Behavior): Behavior {
  const { meta } = step
  if (meta === undefined || !ownMembers.some((name) => Object.hasOwn(meta, name))) return step
  return { ...step, meta: Object.fromEntries(Object.entries(meta).filter(([name]) => !ownMembers.includes(name))) }
}

/** The step as recorded: `svc.eval` is its decision, `svc.manifests` on task.start the manifests of the task (docs/design/engine.md §7). */
export function stepLine(step: Behavior, evaluation: LocalEvaluation, facts: StepFacts): TraceLine {
  const { evaluation_id, action, risk_score, policies, manifests } = evaluation
  const outcomes = policies.map(
    ({ policy_id, name, severity, violated, manifest_id, violation_details, ...result }) => ({
      policy_id,
      name,
      severity,
      violated,
      manifest_id,
      ...(violation_details !== null && { code: violation_details.code }),
      ...(result.approved_by_step !== undefined && { approved_by_step: result.approved_by_step }),
    }),
  )
  const meta = {
    ...step.meta,
    'svc.eval': {
      evaluation_id,
      action,
      risk_score,
      ...(facts.versions_known && { manifests }),
      policies: outcomes,
    },
    ...(evaluation.is_late === true && { 'svc.late': true }),
    ...(step.step_type === 'task.start' && { 'svc.manifests': facts.manifests }),
    ...(facts.tools !== null && { [toolsMember]: facts.tools }),
  }
  // `task_id` comes first: the recall finds it there without parsing the line.
  const { task_id = '' } = step
  return { kind: 'step', recorded_at: isoTime(facts.now), task_id, ...step, meta }
}

/** A blocked step with its decision; `agent` is the agent as the policies saw it. */
export function evaluationLine(
  intended: Behavior & { readonly task_id: string },
  agent: JsonMap,
  { evaluation_id, action, outcome, reason, manifests, violations }: LocalEvaluation,
  now: number,
): TraceLine {
  const rows = violations.map(({ policy_id, name, violation_details }) => ({
    policy_id,
    name,
    code: violation_details?.code ?? null,
  }))
  const { task_id } = intended
  const decision = { action, outcome, reason, manifests, violations: rows }
  return {
    kind: 'evaluation',
    recorded_at: isoTime(now),
    task_id,
    evaluation_id,
    agent,
    intended,
    decision,
  }
}

/**
 * A line for each violated policy that is not waived. `blocked` is the decision on the step; a registration has no task
 * and no step.
 */
export function incidentLines(
  step: Partial<Behavior>,
  { evaluation_id, policies }: Pick<LocalEvaluation, 'evaluation_id' | 'policies'>,
  now: number,
  blocked = false,
): TraceLine[] {
  const obeyed = step.output?.status === 'blocked'
  const defied = blocked && !obeyed
  return violationsOf(policies, obeyed).map((violation) => ({
    kind: 'incident' as const,
    recorded_at: isoTime(now),
    agent_id: step.agent_id ?? null,
    task_id: step.task_id ?? null,
    step: step.step ?? null,
    evaluation_id,
    violation,
    ...(step.step !== undefined && { effect: obeyed ? ('blocked' as const) : ('executed' as const) }),
    reason: defied && blocks(violation) ? ('executed_although_blocked' as const) : ('violated' as const),
  }))
}

/** The same for a step that was blocked or asked about, and that its agent has given up. */
export function releasedLines({ agent_id, task_id, evaluation_id, found }: OpenDecision, now: number): TraceLine[] {
  return found.map((violation) => ({
    kind: 'incident',
    recorded_at: isoTime(now),
    agent_id,
    task_id,
    step: null,
    evaluation_id,
    violation,
    effect: 'blocked',
    reason: 'violated',
  }))
}

function blocks({ mode, severity }: Pick<PolicyResult, 'mode' | 'severity'>): boolean {
  return mode === 'enforce' && severity === 'critical'
}
