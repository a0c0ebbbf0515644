// Reads pages of the log: every record is hashed again before it counts.
import { isMap, parseJson, type Receipts } from '@svc/proof'
import type { LeafRecord, LogRecord } from '@svc/schemas'
import type { AppliedRow, AskedRow, EntriesPage, EvaluatedRow, LeafRow, ViolationRow } from '../content/messages.js'
import type { Openers } from './incidents/openers.js'
import { type OpenedLeaf, readLeaf, rowsOf } from './leaves.js'
import { addTo } from './listing.js'
import type { Period } from './period.js'
import type { Problem } from './problems.js'
import type { createMissing } from './removals.js'
import { appliedIn, approvalsIn, evaluationOf, unapproved } from './steps/evaluation.js'
import type { RejudgeTally } from './steps/rejudge.js'
import { isCritical, type StepTally } from './steps/steps.js'
import type { TreeCheck } from './tree.js'

export interface EntryParts {
  readonly times: Period
  /** The times of receipt of the entries. */
  readonly receipts: Receipts
  readonly openers: Openers
  readonly tree: TreeCheck
  readonly steps: StepTally
  readonly rejudge: RejudgeTally
  readonly missing: ReturnType<typeof createMissing>
  readonly report: Problem
  /** Entries by type. */
  readonly types: Map<string, number>
  /** Takes every leaf that is not a step. */
  readonly leaf: (leaf: OpenedLeaf) => void
}

interface Step {
  readonly record: string
  readonly violations: readonly ViolationRow[]
  readonly evaluated: EvaluatedRow | undefined
  readonly applied: readonly number[]
  readonly asked: AskedRow | undefined
  readonly is_kept: boolean
  readonly reads_memory: boolean
  readonly is_decided: boolean
}

export function readPage(parts: EntryParts, page: EntriesPage): void {
  const leaves = byIndex(page.leaves)
  const steps = byIndex(page.steps)
  const kept = indexesIn(page.kept)
  const memory = indexesIn(page.memory)
  const decided = indexesIn(page.decided)
  const violations = groupByIndex(rowsOf<ViolationRow>(page.violations))
  const evaluated = new Map(rowsOf<EvaluatedRow>(page.evaluated).map((row) => [row[0], row]))
  const applied = appliedIn(rowsOf<AppliedRow>(page.applied))
  const asked = new Map(rowsOf<AskedRow>(page.asked).map((row) => [row[0], row]))
  const records = new Map(rowsOf<LeafRow>(page.records).map((row) => [row[0], row]))
  for (const [size, root] of rowsOf<[number, string]>(page.checkpoints)) parts.tree.expect(size, root)
  for (let index = page.from; index < page.to; index++) {
    const [type = '', leaf_hash = null] = leaves.get(index)?.split('\t', 2) ?? []
    const row = records.get(index)
    const record = leaf_hash === null ? null : (steps.get(index) ?? row?.[2] ?? null)
    const isAsHashed = parts.tree.add(index, leaf_hash, record)
    if (leaf_hash === null) continue
    addTo(parts.types, type)
    if (record === null) addRemoved(parts, index, type)
    else if (isAsHashed && type === 'step') {
      const facts = { is_kept: kept.has(index), reads_memory: memory.has(index), is_decided: decided.has(index) }
      const found = {
        violations: violations.get(index) ?? [],
        evaluated: evaluated.get(index),
        asked: asked.get(index),
      }
      addStep(parts, index, { record, ...facts, ...found, applied: applied.get(index) ?? [] })
    } else if (isAsHashed && row !== undefined) addLeaf(parts, row)
  }
}

/** The texts after the log index of each line. */
function byIndex(lines: string | null): Map<number, string> {
  const texts = new Map<number, string>()
  for (const line of lines?.split('\n') ?? []) {
    const tab = line.indexOf('\t')
    texts.set(Number(line.slice(0, tab)), line.slice(tab + 1))
  }
  return texts
}

function indexesIn(text: string | null): Set<number> {
  return new Set(text?.split(' ').map(Number))
}

function groupByIndex(rows: readonly ViolationRow[]): Map<number, ViolationRow[]> {
  const groups = new Map<number, ViolationRow[]>()
  for (const row of rows) {
    const known = groups.get(row[0])
    if (known === undefined) groups.set(row[0], [row])
    else known.push(row)
  }
  return groups
}

function addRemoved({ missing, rejudge }: EntryParts, index: number, type: string): void {
  missing.addRecord(index)
  if (type === 'step') rejudge.addPruned()
}

function addStep(parts: EntryParts, index: number, step: Step): void {
  const { steps, rejudge, missing, report, times, receipts, openers } = parts
  const { record: text, is_kept, reads_memory, is_decided, violations, evaluated, applied } = step
  const record = recordIn<LogRecord>(text, 'step')
  if (record === null) {
    report('record_unreadable', index, `the record of entry ${index} is not that of a step`)
    return
  }
  if (!is_kept) missing.addPayload(index)
  if (!isReceivedIn(record, receipts))
    report('period_mismatch', index, `entry ${index} was received at ${record.received_at}, outside the period`)
  const began = rejudge.add(index, record, is_kept, reads_memory)
  const results = is_kept ? evaluationOf(record, evaluated, violations, index, report) : []
  const decided = is_kept ? is_decided : null
  const isRead = violations.some((violation) => violation[6] === true || isCritical(violation))
  const outcome = isRead ? unapproved(record, step.asked, index, report) : 'missing'
  const counts_at = times.timeOf(record)
  openers.step(record.task_id, record.step, violations, counts_at.time)
  steps.add(record, { counts_at, began, violations, given: approvalsIn(results), decided, applied, outcome })
}

function isReceivedIn({ received_at }: LogRecord, { from, to }: Receipts): boolean {
  return received_at >= from && (to === null || received_at < to)
}

function addLeaf({ leaf, missing, report }: EntryParts, row: LeafRow): void {
  const [index, , text] = row
  const record = recordIn<LeafRecord>(text, null)
  const opened = record === null ? 'altered' : readLeaf(row)
  if (opened === 'altered') {
    report('leaf_altered', index, `the content of entry ${index} does not match its record`)
    return
  }
  if (opened.values === null) missing.addPayload(index)
  leaf(opened)
}

/** A record that has the members that a report reads; null for another text. */
function recordIn<R>(text: string, type: 'step' | null): R | null {
  try {
    const record: unknown = parseJson(text)
    if (!isMap(record)) return null
    const names = type === 'step' ? stepNames : leafNames
    const isRead = names.every((name) => typeof record[name] === 'string') && (type === null || record.type === type)
    return isRead ? (record as R) : null
  } catch {
    return null
  }
}

const stepNames = ['agent_id', 'task_id', 'step_type', 'received_at', 'policy_set']
const leafNames = ['type', 'subject_id', 'received_at']
