// The stored rows of a task, and the parts of them that follow from the records.
import { canonicalType, type LogRecord, parseTimestamp } from '@svc/schemas'

/** An entry as stored: the hashed record, and the columns that repeat parts of it for queries. */
export interface StoredEntry {
  readonly org_id: string
  readonly log_index: number
  readonly log_id: string
  readonly agent_id: string
  readonly task_id: string
  readonly seq: number
  readonly step: number
  readonly step_type: string
  readonly timestamp: string
  /** RFC 3339 UTC with milliseconds, derived from `timestamp` and never below its predecessor's. */
  readonly occurred_at: string
  readonly received_at: string
  readonly is_external_call: boolean
  readonly has_write_permission: boolean
  readonly prev_hash: string
  readonly client_prev_hash: string | null
  readonly api_key_id: string
  readonly policy_set: string
  readonly hash: string
  readonly record: string
}

/** Salts and values of an entry as stored; both null once erased. */
export interface StoredPayload {
  readonly log_index: number
  readonly received_at: string
  readonly salts: string | null
  readonly body: string | null
}

export interface StoredLeaf {
  readonly log_index: number
  readonly type: string
  readonly leaf_hash: string
  readonly received_at: string
}

export interface StoredHead {
  readonly org_id: string
  readonly task_id: string
  readonly agent_id: string
  readonly seq: number
  readonly hash: string
  readonly first_log_index: number
  readonly last_log_index: number
  readonly min_step: number
  readonly max_step: number
  /** Times of the steps with the lowest and the highest number; of two with the same number, the first arrival. */
  readonly first_ts: string
  readonly last_ts: string
  readonly first_received_at: string
  readonly last_received_at: string
  readonly has_end: boolean
  readonly has_error: boolean
}

/** The head of a task after another entry: ingestion stores it, the verifier computes it again. */
export function advance(head: StoredHead | null, entry: Omit<StoredEntry, 'record'>): StoredHead {
  const type = canonicalType(entry.step_type)
  return {
    org_id: entry.org_id,
    task_id: entry.task_id,
    agent_id: entry.agent_id,
    seq: (head?.seq ?? 0) + 1,
    hash: entry.hash,
    first_log_index: head?.first_log_index ?? entry.log_index,
    last_log_index: entry.log_index,
    min_step: Math.min(head?.min_step ?? entry.step, entry.step),
    max_step: Math.max(head?.max_step ?? entry.step, entry.step),
    first_ts: head === null || entry.step < head.min_step ? entry.timestamp : head.first_ts,
    last_ts: head === null || entry.step > head.max_step ? entry.timestamp : head.last_ts,
    first_received_at: head?.first_received_at ?? entry.received_at,
    last_received_at: entry.received_at,
    has_end: (head?.has_end ?? false) || type === 'task.end',
    has_error: (head?.has_error ?? false) || type === 'task.error',
  }
}

/**
 * The time at which a step counts as having occurred, ms since 1970: its own time, never below its predecessor's
 * (docs/design/engine.md §2). An invalid time counts as the predecessor's.
 */
export function occurredAt(timestamp: string, previous: number | null): number {
  const own = parseTimestamp(timestamp) ?? previous ?? 0
  return previous === null ? own : Math.max(own, previous)
}

/** The members of a record that the columns of an entry repeat. */
export const projections = [
  'org_id',
  'agent_id',
  'task_id',
  'seq',
  'step',
  'step_type',
  'timestamp',
  'received_at',
  'is_external_call',
  'has_write_permission',
  'prev_hash',
  'api_key_id',
  'policy_set',
] as const satisfies readonly (keyof LogRecord & keyof StoredEntry)[]
