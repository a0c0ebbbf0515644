// The steps of the period: by agent, task, type, time and policy set, with their violations.
import { canonicalType, type LogRecord } from '@svc/schemas'
import { maxApprovals, maxStepTypes } from '../bounds.js'
import type { ViolationRow } from '../messages.js'
import type { Buckets } from './buckets.js'
import { addTo, boundedList } from './listing.js'

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
  /** By policy. */
  readonly violations: Map<number, ViolationTally>
}

export interface ViolationTally {
  readonly name: string
  readonly severity: string
  readonly mode: string
  count: number
  waived: number
  /** Whether another row of this policy has another name, severity or mode. */
  differs: boolean
}

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
  readonly outcome: 'given' | 'missing'
  readonly approved_by_step: number | null
}

export interface Totals {
  tasks: number
  steps: number
  steps_in_violation: number
  enforced: number
  observed: number
  waived: number
  approvals_asked: number
  approvals_given: number
}

const noTotals: Totals = {
  tasks: 0,
  steps: 0,
  steps_in_violation: 0,
  enforced: 0,
  observed: 0,
  waived: 0,
  approvals_asked: 0,
  approvals_given: 0,
}

export type StepTally = ReturnType<typeof createStepTally>

/** Of the chosen agents; null for all. */
export function createStepTally(chosen: ReadonlySet<string> | null, buckets: Buckets) {
  const totals: Totals = { ...noTotals }
  const agents = new Map<string, AgentTally>()
  const sets = new Map<string, SetTally>()
  const types = new Map<string, number>()
  // A task's first entry has `seq` 1: only tasks that began earlier, or whose first entry is altered, are remembered by name here.
  const continued = new Set<string>()
  const approvals = boundedList<ApprovalTally>(maxApprovals)

  const agentOf = ({ agent_id, received_at }: LogRecord) => {
    const known = agents.get(agent_id)
    if (known !== undefined) return known
    const added = { tasks: 0, steps: 0, violations: 0, first_step_at: received_at, last_step_at: received_at }
    agents.set(agent_id, added)
    return added
  }
  const approval = (row: ApprovalTally) => {
    totals.approvals_asked += 1
    if (row.outcome === 'given') totals.approvals_given += 1
    approvals.add(row)
  }
  return {
    totals,
    agents,
    sets,
    types,
    approvals,
    add: (record: LogRecord, began: boolean, violations: readonly ViolationRow[], given: readonly GivenApproval[]) => {
      const { agent_id, task_id, received_at, policy_set, step } = record
      if (chosen !== null && !chosen.has(agent_id)) return
      const agent = agentOf(record)
      const isNew = record.seq === 1 || (!began && !continued.has(task_id))
      if (isNew && record.seq !== 1) continued.add(task_id)
      if (isNew) totals.tasks += 1
      if (isNew) agent.tasks += 1
      totals.steps += 1
      agent.steps += 1
      agent.last_step_at = received_at
      const type = canonicalType(record.step_type)
      addTo(types, types.size < maxStepTypes || types.has(type) ? type : 'other')
      const set = setOf(sets, policy_set)
      addTo(set.steps, agent_id)
      const time = Date.parse(received_at)
      buckets.count(time, 'steps')
      agent.violations += violations.length
      if (violations.length > 0) buckets.count(time, 'violations', violations.length)
      if (countViolations(totals, set, violations)) totals.steps_in_violation += 1
      const shown = { at: received_at, agent_id, task_id, step, policy_set }
      for (const [, policy_id, name, , , , asks] of violations)
        if (asks === true) approval({ ...shown, policy_id, name, outcome: 'missing', approved_by_step: null })
      for (const { policy_id, approved_by_step } of given)
        approval({ ...shown, policy_id, name: null, outcome: 'given', approved_by_step })
    },
  }
}

export interface GivenApproval {
  readonly policy_id: number
  readonly approved_by_step: number | null
}

function setOf(sets: Map<string, SetTally>, digest: string): SetTally {
  const known = sets.get(digest)
  if (known !== undefined) return known
  const added = { steps: new Map<string, number>(), violations: new Map<number, ViolationTally>() }
  sets.set(digest, added)
  return added
}

/** Whether one of the violations is of an enforced policy and not waived. */
function countViolations(totals: Totals, set: SetTally, violations: readonly ViolationRow[]): boolean {
  let isInViolation = false
  for (const [, policy_id, name, severity, mode, waived] of violations) {
    const known = set.violations.get(policy_id) ?? { name, severity, mode, count: 0, waived: 0, differs: false }
    set.violations.set(policy_id, known)
    known.count += 1
    known.differs ||= known.name !== name || known.severity !== severity || known.mode !== mode
    if (waived) known.waived += 1
    if (waived) totals.waived += 1
    else if (mode === 'observe') totals.observed += 1
    else totals.enforced += 1
    isInViolation ||= !waived && mode !== 'observe'
  }
  return isInViolation
}
