// Verifying a task (docs/design/log.md §3): has it been altered, and did it arrive in order. Two verdicts, never mixed.
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
  /** Takes the next entry in arrival order, with what is stored beside it. */
  readonly add: (
    entry: StoredEntry,
    payload: StoredPayload | null,
    leaf: StoredLeaf | null,
    known: Pick<EntryInTask, 'published' | 'is_erased'>,
  ) => void
  readonly finish: (head: StoredHead | null, tree: TreeFinding) => Verification
}

/** How the task stands in the signed tree. */
export interface TreeFinding {
  /** `none`: nothing of it is signed for yet; `partly`: its newest entries are not. */
  readonly anchoring: Verification['anchoring']
  /** Place of the first entry that is signed for and that the tree does not hold; null when there is none. */
  readonly not_signed: number | null
}

/** Walks a task entry by entry, so that its length is bounded by time only. */
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
      const { issues, warnings } = sequence.finish()
      const entries = head?.seq ?? 0
      return {
        task_id,
        valid: first_bad === null && issues.length === 0,
        entries,
        integrity: { ok: first_bad === null, first_bad },
        sequence: { ok: issues.length === 0, issues, warnings },
        anchoring,
        payloads: { present: entries - erased, erased },
      }
    },
  }
}
