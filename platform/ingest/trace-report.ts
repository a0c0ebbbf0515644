// Reports of a local engine next to steps and incidents: a decision whose step was not recorded, or steps that it had to drop.
import type { JsonMap, TraceGap, UnrecordedStep } from '@svc/schemas'
import { invalid } from '../errors.js'
import { validated } from '../http/validate.js'
import { withZone } from '../ledger/stored-step.js'
import type { ReportedViolation } from './incident-report.js'
import type { ReportId } from './store/trace-reports.js'

export interface TraceReport extends ReportId {
  /** Null for steps of several tasks. */
  readonly task_id: string | null
  /** The data of its event, without the agent. */
  readonly data: JsonMap
  /** Reports of one agent with the same cause are delivered once. */
  readonly cause: string
  /** The violations of a decision without a step: each is reported as an incident. */
  readonly violations: readonly ReportedViolation[]
  /** The action that waited for a person; null for another report, and for one of an engine that does not state it. */
  readonly question: AskedAction | null
}

interface AskedAction {
  readonly action_digest: string
  /** ms since 1970 */
  readonly asked_at: number
}

/** Characters of a reason and of a name, and violations: lists return 200 events. */
const maxReason = 500
const maxName = 200
const maxViolations = 20

/** The report of the agent with this key. Throws INVALID. */
export function unrecordedIn(value: unknown, agent_key: string): TraceReport {
  const report = validated('unrecorded-step', value)
  const { task_id, evaluation_id, outcome, reason, decided_at, intended, violations, others } = report
  const step = {
    step_type: cut(intended.step_type, maxName),
    step_name: cut(intended.step_name, maxName),
    verb: cut(intended.verb, maxName),
  }
  const data = {
    evaluation_id,
    outcome,
    ...step,
    reason: cut(reason, maxReason),
    decided_at: withZone(decided_at),
    violations: violationsOf(violations),
    ...(others !== undefined && { others: Number(others) }),
  }
  // An agent that repeats a step in one task would flood the receiver.
  const cause = JSON.stringify([task_id, outcome, ...Object.values(step)])
  const found = data.violations.map((violation, index) => {
    const { evaluation_id, outcome } = data
    // The reason names the first of them.
    const reason = index === 0 ? data.reason : null
    return reportedViolation(violation, { evaluation_id, agent_key, task_id, outcome, reason })
  })
  return {
    kind: 'unrecorded',
    id: evaluation_id,
    task_id,
    data,
    cause,
    violations: found,
    question: questionIn(report),
  }
}

/** The digest is neither in the event nor in the incident: it could confirm a guess of content that is erased later. */
function questionIn({ outcome, action_digest, decided_at }: UnrecordedStep): AskedAction | null {
  const asked_at = Date.parse(withZone(decided_at))
  if (outcome !== 'ask' || Number.isNaN(asked_at) || !/^[0-9a-f]{64}$/.test(action_digest ?? '')) return null
  return { action_digest: action_digest ?? '', asked_at }
}

type Found = ReturnType<typeof violationsOf>[number]
type Decided = Pick<ReportedViolation, 'evaluation_id' | 'agent_key' | 'task_id' | 'reason'> &
  Pick<UnrecordedStep, 'outcome'>

/** The violation as its engine would report the incident. */
function reportedViolation({ policy_id, name, code, waived }: Found, decided: Decided): ReportedViolation {
  const { outcome, ...ids } = decided
  return {
    ...ids,
    policy_id: /^\d{1,15}$/.test(String(policy_id)) ? Number(policy_id) : null,
    policy_name: name,
    manifest_id: null,
    agent_id: null,
    step: null,
    mode: null,
    waived: waived === true,
    reported_reason: 'unrecorded',
    details: { ...(code !== null && { code }) },
    // The engine stopped the step; one that it allowed may have run.
    effect: outcome === 'block' || outcome === 'ask' ? 'blocked' : 'unknown',
  }
}

/** Throws INVALID. */
export function gapIn(value: unknown): TraceReport {
  const gap = validated('trace-gap', value)
  const { gap_id, task_id = null, from, to, reason } = gap
  const [first_step, last_step] = [numberIn(gap.first_step), numberIn(gap.last_step)]
  if (first_step !== null && last_step !== null && last_step < first_step)
    throw invalid([{ path: 'last_step', message: `must be at least \`first_step\` ${first_step}, found ${last_step}` }])
  const data = {
    steps: numberIn(gap.steps),
    first_step,
    last_step,
    from: withZone(from),
    to: withZone(to),
    reason: cut(reason, maxReason),
  }
  return { kind: 'gap', id: gap_id, task_id, data, cause: gap_id, violations: [], question: null }
}

function violationsOf(violations: UnrecordedStep['violations'] = []) {
  return violations.slice(0, maxViolations).map(({ policy_id, name, code, waived }) => ({
    policy_id: typeof policy_id === 'string' ? cut(policy_id, maxName) : (policy_id ?? null),
    name: cut(name, maxName),
    code: cut(code, maxName),
    ...(waived === true && { waived }),
  }))
}

function numberIn(value: TraceGap['first_step']): number | null {
  return value === undefined ? null : Number(value)
}

/** The text without NUL, which the database does not take. */
function cut(text: string | undefined, length: number): string | null {
  if (text === undefined) return null
  const shown = text.replaceAll('\0', '\ufffd')
  return shown.length > length ? `${shown.slice(0, length).toWellFormed()}…` : shown
}
