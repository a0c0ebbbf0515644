// Integrity of one entry and of a task's head: every stored byte is hashed or follows from hashed bytes.
import type { LogRecord, Verification } from '@svc/schemas'
import { canonicalObject, readCanonical } from '../json/canonical-text.js'
import { emptyRoot, firstUnopened, leafHash, logIdOf } from './record.js'
import {
  occurredAt,
  projections,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
} from './stored.js'

export type IntegrityFinding = NonNullable<Verification['integrity']['first_bad']>

export interface EntryInTask {
  readonly org_id: string
  readonly task_id: string
  readonly entry: StoredEntry
  readonly payload: StoredPayload | null
  readonly leaf: StoredLeaf | null
  /** The head before this entry, as the verifier computed it. */
  readonly head: StoredHead | null
  readonly previous_occurred_at: number | null
  /** Published roots by size: at least those of the size that the record names. */
  readonly published: PublishedRoots
  /** True if the log records an erasure of the payload at this log index. */
  readonly is_erased: (log_index: number) => boolean
  /** Size of the checkpoint that the previous entry names. */
  readonly previous_after: number
}

/** A size has a root in each epoch of the log: more than one after a restore. */
export type PublishedRoots = ReadonlyMap<number, readonly string[]>

type Problem = { readonly code: string; readonly field: string | null; readonly message: string }

/** The first fault of an entry, or null. */
export function integrityOfEntry(at: EntryInTask): IntegrityFinding | null {
  const { entry } = at
  const problem = orderProblem(at) ?? hashProblem(entry) ?? recordProblems(at) ?? leafProblem(at) ?? null
  return problem === null ? null : { seq: entry.seq, log_id: entry.log_id, ...problem }
}

/** The finding for an entry that the signed tree should contain and does not. */
export function notSigned(log_index: number): IntegrityFinding {
  return finding('root_mismatch', 'log_index', `the signed tree has another entry at log index ${log_index}`)
}

/** The first difference between the stored head and the computed one, or null. */
export function integrityOfHead(stored: StoredHead | null, computed: StoredHead | null): IntegrityFinding | null {
  if (computed === null) return finding('missing_seq', null, 'the task has a head but no entries')
  if (stored === null) return finding('projection_mismatch', 'head', 'the task has entries but no head')
  const [field] = (Object.keys(computed) as (keyof StoredHead)[]).filter((key) => stored[key] !== computed[key])
  if (field === undefined) return null
  if (field === 'seq' && stored.seq > computed.seq) {
    return { ...finding('missing_seq', null, `entry ${computed.seq + 1} is missing`), seq: computed.seq + 1 }
  }
  return finding('projection_mismatch', `head.${field}`, `the head's \`${field}\` does not match the entries`)
}

function finding(code: string, field: string | null, message: string): IntegrityFinding {
  return { seq: null, log_id: null, code, field, message }
}

function orderProblem({ entry, head }: EntryInTask): Problem | null {
  const expected = (head?.seq ?? 0) + 1
  if (entry.seq === expected) return null
  return { code: 'missing_seq', field: 'seq', message: `entry ${expected} is missing` }
}

function hashProblem(entry: StoredEntry): Problem | null {
  if (leafHash(entry.record) === entry.hash) return null
  return { code: 'hash_mismatch', field: 'record', message: 'the record does not match its hash' }
}

function recordProblems(at: EntryInTask): Problem | null {
  const { value, problem } = readCanonical(at.entry.record)
  if (problem !== null) return { code: 'hash_mismatch', field: 'record', message: `the record ${problem}` }
  const record = value as LogRecord
  return (
    linkProblem(at, record) ?? projectionProblem(at, record) ?? afterProblem(at, record) ?? payloadProblem(at, record)
  )
}

function linkProblem({ head }: EntryInTask, record: LogRecord): Problem | null {
  if (record.prev_hash === (head?.hash ?? '')) return null
  return { code: 'link_broken', field: 'prev_hash', message: 'the entry does not follow the previous one' }
}

function projectionProblem(at: EntryInTask, record: LogRecord): Problem | null {
  const { entry, org_id, task_id, head, previous_occurred_at } = at
  const mismatch = (field: string) => ({
    code: 'projection_mismatch',
    field,
    message: `the column \`${field}\` differs from the record`,
  })
  const column = projections.find((name) => entry[name] !== record[name])
  if (column !== undefined) return mismatch(column)
  if (record.org_id !== org_id || record.task_id !== task_id) return mismatch('task_id')
  if (head !== null && head.agent_id !== record.agent_id) return mismatch('agent_id')
  if (entry.client_prev_hash !== (record.client_prev_hash ?? null)) return mismatch('client_prev_hash')
  if (entry.log_id !== logIdOf(Date.parse(record.received_at), entry.hash)) return mismatch('log_id')
  const occurred_at = new Date(occurredAt(record.timestamp, previous_occurred_at)).toISOString()
  return entry.occurred_at === occurred_at ? null : mismatch('occurred_at')
}

function afterProblem({ entry, published, previous_after }: EntryInTask, { after }: LogRecord): Problem | null {
  const mismatch = (message: string) => ({ code: 'after_mismatch', field: 'after', message })
  const { size, root } = after
  if (size === 0 && root !== emptyRoot) return mismatch('the record names an empty tree with another root')
  if (size > 0 && !published.get(size)?.includes(root))
    return mismatch('the record names a checkpoint that was never published')
  if (size > entry.log_index) return mismatch('the record names a later checkpoint')
  if (size < previous_after) return mismatch('the record names an older checkpoint than the previous record')
  return null
}

/** Size of the checkpoint that a record names; 0 for a malformed record, which other checks report. */
export function afterSizeIn(record: string): number {
  return Number(/^\{"after":\{"root":"[0-9a-f]{64}","size":(\d{1,15})\}/.exec(record)?.[1] ?? 0)
}

function leafProblem({ entry, leaf }: EntryInTask): Problem | null {
  const isValid =
    leaf !== null && leaf.type === 'step' && leaf.leaf_hash === entry.hash && leaf.received_at === entry.received_at
  return isValid ? null : { code: 'not_in_tree', field: 'log_index', message: 'the log has another leaf at this index' }
}

function payloadProblem({ entry, payload, is_erased }: EntryInTask, record: LogRecord): Problem | null {
  const mismatch = (field: string | null, message: string) => ({ code: 'payload_mismatch', field, message })
  if (payload === null) return mismatch(null, 'the payload has no row; an erased payload leaves an empty one')
  if (payload.received_at !== entry.received_at)
    return mismatch('received_at', '`received_at` of the payload differs from that of the entry')
  if (payload.salts === null && payload.body === null) {
    if (is_erased(entry.log_index)) return null
    return {
      code: 'payload_lost',
      field: null,
      message: 'the payload is missing, and the log records no erasure of it',
    }
  }
  const salts = canonicalObject(payload.salts ?? '')
  const values = canonicalObject(payload.body ?? '')
  if (salts === null) return mismatch('salts', 'the salts are not in canonical form')
  if (values === null) return mismatch('body', 'the values are not in canonical form')
  const field = firstUnopened({ ...record.data, evaluation: record.evaluation }, salts, values)
  return field === null ? null : mismatch(field, `\`${field}\` does not open its commitment`)
}
