// The rows of a log, as a database holds them.
import type { LeafRecord, LogRecord } from '@svc/schemas'
import { leafHash, logIdOf, recordText } from '../record/record.js'
import {
  advance,
  occurredAt,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
} from '../record/stored.js'

/** A step or another leaf, with the salts and values that its record commits to. */
export interface Item {
  readonly record: LogRecord | LeafRecord
  readonly salts: string | null
  readonly body: string | null
}

/** Rows that an attacker with the database can change. */
export interface Store {
  entries: StoredEntry[]
  payloads: Map<number, StoredPayload>
  /** Records of leaves other than steps, by log index. */
  others: Map<number, string>
  leaves: StoredLeaf[]
  heads: Map<string, StoredHead>
}

/** The rows that the platform would write for these items, with their log indexes, chains, hashes and heads. */
export function storeOf(items: readonly Item[]): Store {
  const store: Store = { entries: [], payloads: new Map(), others: new Map(), leaves: [], heads: new Map() }
  const times = new Map<string, number>()
  for (const [log_index, { record, salts, body }] of items.entries()) {
    const { received_at } = record
    let text = recordText(record)
    if (record.type === 'step') {
      const head = store.heads.get(record.task_id) ?? null
      const placed: LogRecord = { ...record, seq: (head?.seq ?? 0) + 1, prev_hash: head?.hash ?? '' }
      text = recordText(placed)
      const at = occurredAt(record.timestamp, times.get(record.task_id) ?? null)
      times.set(record.task_id, at)
      const entry = entryOf(placed, text, log_index, new Date(at).toISOString())
      store.entries.push(entry)
      store.heads.set(record.task_id, advance(head, entry))
    } else store.others.set(log_index, text)
    store.payloads.set(log_index, { log_index, received_at, salts, body })
    store.leaves.push({ log_index, type: record.type, leaf_hash: leafHash(text), received_at })
  }
  return store
}

/** The row of a step whose record is this text. */
export function entryOf(record: LogRecord, text: string, log_index: number, occurred_at: string): StoredEntry {
  const { v: _v, type: _type, evaluation: _evaluation, data: _data, after: _after, ...columns } = record
  const hash = leafHash(text)
  const log_id = logIdOf(Date.parse(record.received_at), hash)
  const client_prev_hash = record.client_prev_hash ?? null
  return { ...columns, client_prev_hash, log_index, log_id, occurred_at, hash, record: text }
}

/** The text of the record at a log index; the text `null` if there is no record. */
export function recordAt({ entries, others }: Store, log_index: number): string {
  return entries.find((entry) => entry.log_index === log_index)?.record ?? others.get(log_index) ?? 'null'
}
