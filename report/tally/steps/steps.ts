// The steps that count: by agent, task, type, time and policy set, with their violations.
import { occurredAt } from '@svc/proof'
import { canonicalType, type LogRecord } from '@svc/schemas'
import { maxApprovals, maxStepTypes } from '../../content/bounds.js'
import type { ViolationRow } from '../../content/messages.js'
import { addTo, boundedList } from '../listing.js'
import type { Moment, Period } from '../period.js'
import type { Buckets } from './buckets.js'
import { createClaims } from './claims.js'

export interface AgentTally {
  tasks: number
  steps: number
  violations: number
  first_step_at: string
  last_step_at: string
}

/** Steps that were evaluated with one policy set. */
export interface SetTally {
  /** By agent. */
  readonly steps: Map<string, number>
  /** Steps that each policy applied to. */
  readonly applied: Map<number, number>
  /** By policy. */
  readonly violations: Map<number, ViolationTally>
}

export interface ViolationTally {
  readonly name: string
  readonly severity: string
  readonly mode: string
  count: number
  waived: number
  /** True if another row of this policy has another name, severity or mode. */
  differs: boolean
  /** The times at which the last waived one and the first other one were evaluated, ms since 1970: their waiver ended between them. */
  waived_last: number
  unwaived_first: number
}

/** A gate approved the step; it was recorded without an approval; it was stopped; its content is erased. */
export type AskOutcome = 'given' | 'missing' | 'blocked' | 'erased'

/** A step for which a policy asked for an approval. */
export interface ApprovalTally {
  readonly at: string
  readonly agent_id: string
  readonly task_id: string
  readonly step: number
  readonly policy_id: number
  readonly policy_set: string
  /** Of the violation; null where a gate approved. */
  readonly name: string | null
  readonly outcome: AskOutcome
  readonly approved_by_step: number | null
}

export interface Totals {
  tasks: number
  steps: number
  steps_in_violation: number
  critical_steps: number
  enforced: number
  observed: number
  waived: number
  approvals_asked: number
  approvals_given: number
  approvals_missing: number
  approvals_blocked: number
  approvals_erased: number
  gates_erased: number
}

const noTotals: Totals = {
  tasks: 0,
  steps: 0,
  steps_in_violation: 0,
  critical_steps: 0,
  enforced: 0,
  observed: 0,
  waived: 0,
  approvals_asked: 0,
  approvals_given: 0,
  approvals_missing: 0,
  approvals_blocked: 0,
  approvals_erased: 0,
  gates_erased: 0,
}

export type StepTally = ReturnType<typeof createStepTally>

/** Of the chosen agents; null for all. */
export function createStepTally(chosen: ReadonlySet<string> | null, buckets: Buckets, period: Period) {
  const totals: Totals = { ...noTotals }
  const claims = createClaims(period)
  const agents = new Map<string, AgentTally>()
  const sets = new Map<string, SetTally>()
  const types = new Map<string, number>()
  const isNewTask = createTasks(period.by_sender)
  const evaluatedAt = createTimes()
  const approvals = boundedList<ApprovalTally>(maxApprovals)

  const approval = (row: ApprovalTally) => {
    totals.approvals_asked += 1
    totals[`approvals_${row.outcome}`] += 1
    approvals.add(row)
  }
  return {
    totals,
    claims,
    agents,
    sets,
    types,
    approvals,
    add: (record: LogRecord, step_facts: EvaluatedStep) => {
      const { counts_at, began, violations, given, decided, applied, outcome } = step_facts
      const { agent_id, task_id, policy_set, step } = record
      if (chosen !== null && !chosen.has(agent_id)) return
      const evaluated = evaluatedAt(record, began)
      claims.received(record, decided)
      const { time, at } = counts_at
      if (period.placeOf(time) !== 'in') return
      const agent = agentIn(agents, agent_id, at)
      const isNew = isNewTask(record, began)
      if (isNew) totals.tasks += 1
      if (isNew) agent.tasks += 1
      totals.steps += 1
      agent.steps += 1
      if (at < agent.first_step_at) agent.first_step_at = at
      if (at > agent.last_step_at) agent.last_step_at = at
      const type = canonicalType(record.step_type)
      addTo(types, types.size < maxStepTypes || types.has(type) ? type : 'other')
      const set = setOf(sets, policy_set)
      addTo(set.steps, agent_id)
      for (const id of applied) addTo(set.applied, id)
      claims.counted(record, decided)
      // The step that an erased gate approved cannot be read.
      if (decided === null && type === 'step.gate') totals.gates_erased += 1
      buckets.count(time, 'steps')
      agent.violations += violations.length
      if (violations.length > 0) buckets.count(time, 'violations', violations.length)
      if (countViolations(totals, set, violations, evaluated)) totals.steps_in_violation += 1
      if (outcome !== 'blocked' && violations.some(isCritical)) totals.critical_steps += 1
      const shown = { at, agent_id, task_id, step, policy_set }
      for (const [, policy_id, name, , , , asks] of violations)
        if (asks === true) approval({ ...shown, policy_id, name, outcome, approved_by_step: null })
      for (const { policy_id, approved_by_step } of given)
        approval({ ...shown, policy_id, name: null, outcome: 'given', approved_by_step })
    },
  }
}

/** True if a counted step is the first counted one of its task. `by_sender`: the first entry of a task can be one that does not count. */
function createTasks(by_sender: boolean) {
  // A task's first entry has `seq` 1: otherwise only tasks that began earlier, or whose first entry is altered, are remembered by name.
  const known = new Set<string>()
  return ({ task_id, seq }: LogRecord, began: boolean): boolean => {
    if (!by_sender && (seq === 1 || began)) return seq === 1
    if (known.has(task_id)) return false
    known.add(task_id)
    return true
  }
}

/** The time at which each step occurred, ms since 1970; too early, and not exact, in a task that began before the entries that were read. */
function createTimes() {
  const last = new Map<string, number>()
  return ({ task_id, timestamp, seq }: LogRecord, began: boolean): EvaluatedAt => {
    const at = occurredAt(timestamp, last.get(task_id) ?? null)
    last.set(task_id, at)
    return { at, is_exact: began || seq === 1 }
  }
}

interface EvaluatedAt {
  readonly at: number
  readonly is_exact: boolean
}

/** The known facts of a step next to its record. */
export interface EvaluatedStep {
  readonly counts_at: Moment
  /** True if its task began in the entries that were read. */
  readonly began: boolean
  readonly violations: readonly ViolationRow[]
  readonly given: readonly GivenApproval[]
  /** True if a local engine evaluated it before it ran; null if its content is erased. */
  readonly decided: boolean | null
  /** The policies that applied to it. */
  readonly applied: readonly number[]
  /** Its outcome if it violated a critical policy, or if a policy asked for an approval in vain. */
  readonly outcome: Exclude<AskOutcome, 'given'>
}

export interface GivenApproval {
  readonly policy_id: number
  readonly approved_by_step: number | null
}

function agentIn(agents: Map<string, AgentTally>, agent_id: string, at: string): AgentTally {
  const known = agents.get(agent_id)
  if (known !== undefined) return known
  const added = { tasks: 0, steps: 0, violations: 0, first_step_at: at, last_step_at: at }
  agents.set(agent_id, added)
  return added
}

function setOf(sets: Map<string, SetTally>, digest: string): SetTally {
  const known = sets.get(digest)
  if (known !== undefined) return known
  const added = {
    steps: new Map<string, number>(),
    applied: new Map<number, number>(),
    violations: new Map<number, ViolationTally>(),
  }
  sets.set(digest, added)
  return added
}

const noViolations = {
  count: 0,
  waived: 0,
  differs: false,
  waived_last: Number.NEGATIVE_INFINITY,
  unwaived_first: Number.POSITIVE_INFINITY,
}

/** True if it is of an enforced critical policy and not waived. */
export function isCritical([, , , severity, mode, waived]: ViolationRow): boolean {
  return severity === 'critical' && mode !== 'observe' && !waived
}

/** True if one of the violations is of an enforced policy and not waived. */
function countViolations(
  totals: Totals,
  set: SetTally,
  violations: readonly ViolationRow[],
  { at, is_exact }: EvaluatedAt,
): boolean {
  let isInViolation = false
  for (const [, policy_id, name, severity, mode, waived] of violations) {
    const known = set.violations.get(policy_id) ?? { name, severity, mode, ...noViolations }
    set.violations.set(policy_id, known)
    known.count += 1
    known.differs ||= known.name !== name || known.severity !== severity || known.mode !== mode
    if (waived) known.waived += 1
    if (waived) known.waived_last = Math.max(known.waived_last, at)
    else if (is_exact) known.unwaived_first = Math.min(known.unwaived_first, at)
    if (waived) totals.waived += 1
    else if (mode === 'observe') totals.observed += 1
    else totals.enforced += 1
    isInViolation ||= !waived && mode !== 'observe'
  }
  return isInViolation
}
