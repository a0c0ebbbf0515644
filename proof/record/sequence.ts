// The claimed order of a task's steps, verified apart from its integrity: late arrival is not tampering (docs/design/log.md §3).
import { canonicalType, parseTimestamp, type Verification } from '@svc/schemas'
import type { StoredEntry } from './stored.js'

type Issue = Verification['sequence']['issues'][number]

/** The members of an entry that its sequence depends on. */
export type ClaimedStep = Pick<
  StoredEntry,
  'seq' | 'step' | 'step_type' | 'timestamp' | 'received_at' | 'prev_hash' | 'client_prev_hash'
>

/** A step's clock may run ahead of the server's by this much without a warning, ms. */
const maxSkewMs = 5 * 60_000

/** Walks entries in arrival order and verifies the step numbers, times and links that their senders claimed. */
export function sequenceVerifier() {
  const issues: Issue[] = []
  const warnings: Issue[] = []
  const seen = new Set<number>()
  let highest = 0
  let ended = false
  let first: ClaimedStep | null = null
  let last: ClaimedStep | null = null
  let last_time: number | null = null
  const note = (list: Issue[], entry: ClaimedStep, code: string, message: string) =>
    list.push({ seq: entry.seq, step: entry.step, code, message })

  const add = (entry: ClaimedStep) => {
    if (seen.has(entry.step)) note(issues, entry, 'duplicate_step', `step ${entry.step} is claimed twice`)
    else if (entry.step < highest)
      note(issues, entry, 'out_of_order', `step ${entry.step} arrived after step ${highest}`)
    // A step with a number of its own is in order: the id was used for another job, which a log records.
    if (ended) note(warnings, entry, 'after_end', 'the step follows the end of the task: its id was used again')
    if (entry.client_prev_hash !== null && entry.client_prev_hash !== entry.prev_hash) {
      note(issues, entry, 'client_prev_mismatch', 'the sender names another previous entry')
    }
    const time = parseTimestamp(entry.timestamp)
    if (time !== null && last_time !== null && time < last_time) {
      note(warnings, entry, 'timestamp_regression', 'the step claims an earlier time than the previous one')
    }
    if (time !== null && time > Date.parse(entry.received_at) + maxSkewMs) {
      note(warnings, entry, 'clock_skew', 'the step claims a later time than its arrival')
    }
    seen.add(entry.step)
    highest = Math.max(highest, entry.step)
    const type = canonicalType(entry.step_type)
    ended = type === 'task.end' || (ended && type === 'task.error')
    if (first === null || entry.step < first.step) first = entry
    last = entry
    last_time = time
  }

  const finish = () => {
    for (let step = 1; step <= Math.min(highest, seen.size + 1); step++) {
      if (seen.has(step) || first === null) continue
      note(issues, first, 'gap', `step ${step} never arrived`)
      break
    }
    if (first !== null && canonicalType(first.step_type) !== 'task.start') {
      note(issues, first, 'no_start', 'the first step is not a `task.start`')
    }
    if (last !== null && !ended) note(warnings, last, 'no_end', 'the task has no `task.end`')
    return { issues, warnings, summary: sequenceSummary(countByCode(issues), has(warnings, 'after_end')) }
  }
  return { add, finish }
}

const issueNames: Readonly<Record<string, string>> = {
  out_of_order: 'late steps',
  gap: 'gaps in the step numbers',
  duplicate_step: 'duplicate step numbers',
  no_start: 'without START_NODE',
  client_prev_mismatch: 'steps with another previous entry',
}

/** The fault in the sequence of a task, in the words of every verifier; null for steps in sequence. */
export function sequenceSummary(issues: Readonly<Record<string, number>>, is_used_again: boolean): string | null {
  const found = Object.entries(issues).map(([code, number]) => `${number} ${issueNames[code] ?? code}`)
  const parts = [
    ...(found.length > 0 ? [`steps out of sequence (${found.join(', ')})`] : []),
    ...(is_used_again ? ['steps after an end (the task id was used again)'] : []),
  ]
  return parts.length === 0 ? null : `${parts.join(' and ')}; this is not tampering`
}

function countByCode(found: readonly Issue[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of found) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

function has(found: readonly Issue[], code: string): boolean {
  return found.some((one) => one.code === code)
}
