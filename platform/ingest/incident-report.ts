// The report of a local engine about an incident, from any of the shapes that are accepted.
import { isMap } from '@svc/proof'
import type { Effect, IncidentReport, JsonMap, StepViolation } from '@svc/schemas'
import { invalid } from '../errors.js'
import { validated } from '../http/validate.js'
import type { Question } from '../incidents/question.js'

/** A report with the member names of the flat shape. */
export interface ReportedViolation {
  readonly evaluation_id: string | null
  readonly policy_id: number | null
  readonly policy_name: string | null
  readonly manifest_id: string | null
  readonly agent_id: string | null
  readonly agent_key: string | null
  readonly task_id: string | null
  readonly step: number | null
  readonly mode: StepViolation['mode'] | null
  readonly waived: boolean
  readonly reason: string | null
  /** Why it is reported: of a line, `violated` or `executed_although_blocked`. */
  readonly reported_reason: string | null
  readonly details: JsonMap
  readonly effect: Effect
  /** Of an expired question that an approval can settle; absent for another report. */
  readonly question?: Question
}

/** The report in a body: a line of `svc serve`, a step with the line in `meta`, or a flat object. Throws INVALID. */
export function reportIn(body: unknown): ReportedViolation {
  const outer = isMap(body) && isMap(body.meta) && isMap(body.meta['svc.incident']) ? fromStep(body) : body
  const report = validated('incident-report', outer)
  // The members of a line that describe the violation take precedence: `reason` beside them is another one.
  const inner = report.violation === undefined ? report : validated('incident-report', report.violation)
  const step = numberIn(report.step)
  const found: ReportedViolation = {
    evaluation_id: report.evaluation_id ?? null,
    policy_id: numberIn(inner.policy_id ?? report.policy_id),
    policy_name: inner.policy_name ?? inner.name ?? report.policy_name ?? null,
    manifest_id: inner.manifest_id ?? report.manifest_id ?? null,
    agent_id: report.agent_id ?? null,
    agent_key: report.agent_key ?? null,
    task_id: report.task_id ?? null,
    step: step === 0 ? null : step,
    mode: inner.mode ?? report.mode ?? null,
    waived: inner.waived ?? report.waived ?? false,
    reason: inner.reason ?? (report.violation === undefined ? null : (report.reason ?? null)),
    reported_reason: report.reason ?? null,
    details: inner.violation_details ?? report.violation_details ?? {},
    effect: report.reason === 'executed_although_blocked' ? 'executed' : (report.effect ?? 'unknown'),
  }
  assertNamed(found)
  return found
}

/** A step that carries the line of its incident: the members of the line are in `meta`, the others are those of the step. */
function fromStep({ meta, agent_id, agent_key, task_id, step }: JsonMap): JsonMap {
  return { agent_id, agent_key, task_id, step, ...Object((meta as JsonMap)['svc.incident']) }
}

function numberIn(value: IncidentReport['policy_id']): number | null {
  return value === undefined ? null : Number(value)
}

function assertNamed({ policy_id, policy_name, manifest_id, agent_id, agent_key, task_id, step }: ReportedViolation) {
  if (policy_id === null && (policy_name === null || manifest_id === null))
    throw invalid([{ path: 'policy_id', message: 'is missing: send it, or `manifest_id` and `policy_name`' }])
  if (step !== null && task_id === null) throw invalid([{ path: 'task_id', message: 'is missing: `step` needs it' }])
  if (agent_id === null && agent_key === null && task_id === null)
    throw invalid([{ path: 'agent_key', message: 'is missing: send it, or `agent_id`' }])
}
