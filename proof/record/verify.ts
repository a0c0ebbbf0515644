// Verification of a task (docs/design/log.md §3) with two separate verdicts: integrity and sequence.
import type { Verification } from '@svc/schemas'
import {
  afterSizeIn,
  type EntryInTask,
  type IntegrityFinding,
  integrityOfEntry,
  integrityOfHead,
  notSigned,
} from './integrity.js'
import { sequenceVerifier } from './sequence.js'
import {
  advance,
  occurredAt,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
} from './stored.js'

export interface TaskVerifier {
  /** Takes the next entry in arrival order, with its payload and its leaf. */
  readonly add: (
    entry: StoredEntry,
    payload: StoredPayload | null,
    leaf: StoredLeaf | null,
    known: Pick<EntryInTask, 'published' | 'is_erased'>,
  ) => void
  readonly finish: (head: StoredHead | null, tree: TreeFinding) => Verification
}

/** The state of the task in the signed tree. */
export interface TreeFinding {
  /** `none`: no entry is signed yet; `partly`: the newest entries are not signed yet. */
  readonly anchoring: Verification['anchoring']
  /** Log index of the first entry that should be in the signed tree and is not; null without one. */
  readonly not_signed: number | null
}

/** Walks a task entry by entry in constant memory. */
export function taskVerifier(org_id: string, task_id: string): TaskVerifier {
  let first_bad: IntegrityFinding | null = null
  let head: StoredHead | null = null
  let previous_occurred_at: number | null = null
  let previous_after = 0
  let erased = 0
  const sequence = sequenceVerifier()
  return {
    add: (entry, payload, leaf, known) => {
      const context = { org_id, task_id, head, previous_occurred_at, previous_after, ...known }
      first_bad ??= integrityOfEntry({ ...context, entry, payload, leaf })
      previous_after = afterSizeIn(entry.record)
      previous_occurred_at = occurredAt(entry.timestamp, previous_occurred_at)
      head = advance(head, entry)
      if (payload !== null && payload.body === null) erased++
      sequence.add(entry)
    },
    finish: (stored, { anchoring, not_signed }) => {
      first_bad ??= integrityOfHead(stored, head) ?? (not_signed === null ? null : notSigned(not_signed))
      const { issues, warnings, summary } = sequence.finish()
      const entries = head?.seq ?? 0
      return {
        task_id,
        valid: first_bad === null && issues.length === 0,
        entries,
        integrity: { ok: first_bad === null, first_bad },
        sequence: { ok: issues.length === 0, summary, issues, warnings },
        anchoring,
        payloads: { present: entries - erased, erased },
      }
    },
  }
}
