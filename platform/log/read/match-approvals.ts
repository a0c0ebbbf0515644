// Gates and the steps that they approve, as the program of the agent reported both (docs/design/engine.md §3 and §5).
import { digestOfGate, gateProblem } from '@svc/engine/parts'
import { actionDigest } from '@svc/proof'
import { approverOf } from '@svc/report'
import { isBlocked, type LogEntry, type Step, type StepApproval, stepTypesOf } from '@svc/schemas'
import type { ShownEntry } from './store/logs.js'

type ApprovingGate = StepApproval['approved_by'][number]
type Gate = NonNullable<StepApproval['gate']>

interface Passed {
  readonly gate: Gate
  readonly approving: ApprovingGate
}

export const gateTypes: readonly string[] = stepTypesOf(['step.gate'])
const endTypes: readonly string[] = stepTypesOf(['task.end', 'task.error'])

/**
 * The approvals of entries of one task, by log index. The entries are in arrival order. No gate before a gap in them is compared with
 * a step after it. `last` is the position of the last entry of the task.
 */
export function matchApprovals(entries: readonly ShownEntry[], last: number): Map<number, StepApproval> {
  const found = new Map<number, StepApproval>()
  const passed = new Map<number, Passed>()
  /** The gates that a step may still use, by digest. */
  const open = new Map<string, Passed>()
  const leaveOpen = () => {
    for (const { gate } of open.values()) gate.is_complete = false
  }
  let before = entries[0]?.entry.seq ?? 0
  for (const shown of entries) {
    const { log_index, seq, step, step_type } = shown.entry
    if (seq > before + 1) {
      leaveOpen()
      open.clear()
    }
    before = seq
    if (gateTypes.includes(step_type)) {
      const known = gateOf(shown)
      if (known?.gate.passed === true) passed.set(step, known)
      if (known !== null) keepDigest(open, known)
      found.set(log_index, { gate: known?.gate ?? null, approved_by: [] })
    } else {
      // The action of an erased step is unknown: each open gate may be for it.
      if (shown.is_erased) leaveOpen()
      found.set(log_index, { gate: null, approved_by: approvalsOf(shown, passed, open) })
      if (endTypes.includes(step_type)) open.clear()
    }
  }
  if (before < last) leaveOpen()
  return found
}

/** True for a gate that may approve a single step. */
export function isBoundGate({ entry, is_erased }: ShownEntry): boolean {
  return !is_erased && gateTypes.includes(entry.step_type) && digestIn(stepOf(entry)) !== null
}

function gateOf({ entry, is_erased }: ShownEntry): Passed | null {
  if (is_erased) return null
  const step = stepOf(entry)
  const passed = gateProblem(step) === null
  const by = approverOf({ ...step })
  const gate = { passed, by, action_digest: digestIn(step), approves: [], is_complete: true }
  return { gate, approving: { log_id: entry.log_id, step: entry.step, by, timestamp: entry.timestamp } }
}

/** The latest gate for an action counts; one that has not passed and names no action withdraws all. */
function keepDigest(open: Map<string, Passed>, known: Passed): void {
  const { passed, action_digest } = known.gate
  if (action_digest === null) {
    if (!passed) open.clear()
  } else if (passed) open.set(action_digest, known)
  else open.delete(action_digest)
}

/** The gates that its evaluation names, and the one with its digest, which approves one step where no policy says otherwise. */
function approvalsOf(
  { entry, is_erased, evaluation }: ShownEntry,
  passed: ReadonlyMap<number, Passed>,
  open: Map<string, Passed>,
): ApprovingGate[] {
  const step = stepOf(entry)
  if (is_erased || isBlocked(step)) return []
  const named = (evaluation ?? []).flatMap(({ approved_by_step }) => approved_by_step ?? [])
  const used = new Map(named.map((at) => [at, passed.get(at) ?? null]))
  const digest = open.size === 0 ? null : digestOf(step)
  const bound = digest === null ? undefined : open.get(digest)
  if (digest !== null) open.delete(digest)
  if (bound !== undefined) used.set(bound.approving.step, bound)
  const { log_id, step: number, step_name, step_type } = entry
  for (const known of used.values()) known?.gate.approves.push({ log_id, step: number, name: step_name ?? step_type })
  return [...used].map(([at, known]) => known?.approving ?? { log_id: null, step: at, by: null, timestamp: null })
}

function digestIn(gate: Step): string | null {
  try {
    return digestOfGate(gate)
  } catch {
    // An ambiguous field.
    return null
  }
}

/** Null for a step without a canonical form. */
function digestOf(step: Step): string | null {
  try {
    return actionDigest(step)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

function stepOf({ step_type, verb, step_name, input, output, properties }: LogEntry): Step {
  const payload = { verb, step_name, input, output, properties }
  return { step_type, ...Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null)) } as Step
}
