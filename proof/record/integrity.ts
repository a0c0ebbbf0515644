// Integrity of one entry and of a task's head: every stored byte is either hashed or follows from what is.
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
  /** Roots that were published, by size: at least those for the size that the record names. */
  readonly published: PublishedRoots
  /** Whether the log says that what the entry at this place carried was erased. */
  readonly is_erased: (log_index: number) => boolean
  /** Size of the checkpoint that the entry before names. */
  readonly previous_after: number
}

/** A size has more than one root after a restore, in another incarnation of the log. */
export type PublishedRoots = ReadonlyMap<number, readonly string[]>

type Problem = { readonly code: string; readonly field: string | null; readonly message: string }

/** The first thing wrong with an entry, or null. */
export function integrityOfEntry(at: EntryInTask): IntegrityFinding | null {
  const { entry } = at
  const problem = orderProblem(at) ?? hashProblem(entry) ?? recordProblems(at) ?? leafProblem(at) ?? null
  return problem === null ? null : { seq: entry.seq, log_id: entry.log_id, ...problem }
}

/** What is wrong with a task one of whose entries the signed tree does not hold, though it should. */
export function notSigned(log_index: number): IntegrityFinding {
  return finding('root_mismatch', 'log_index', `the signed tree holds something else at place ${log_index}`)
}

/** The first difference between the stored head and the one the entries lead to, or null. */
export function integrityOfHead(stored: StoredHead | null, computed: StoredHead | null): IntegrityFinding | null {
  if (computed === null) return finding('missing_seq', null, 'the task has a head and no entries')
  if (stored === null) return finding('projection_mismatch', 'head', 'the task has entries and no head')
  const [field] = (Object.keys(computed) as (keyof StoredHead)[]).filter((key) => stored[key] !== computed[key])
  if (field === undefined) return null
  if (field === 'seq' && stored.seq > computed.seq) {
    return { ...finding('missing_seq', null, `entry ${computed.seq + 1} is missing`), seq: computed.seq + 1 }
  }
  return finding('projection_mismatch', `head.${field}`, `the head's \`${field}\` is not what the entries lead to`)
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
  return { code: 'hash_mismatch', field: 'record', message: 'the record does not hash to the stored hash' }
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
  return { code: 'link_broken', field: 'prev_hash', message: 'the entry does not follow the one before it' }
}

function projectionProblem(at: EntryInTask, record: LogRecord): Problem | null {
  const { entry, org_id, task_id, head, previous_occurred_at } = at
  const wrong = (field: string) => ({
    code: 'projection_mismatch',
    field,
    message: `the column \`${field}\` is not what the record says`,
  })
  const column = projections.find((name) => entry[name] !== record[name])
  if (column !== undefined) return wrong(column)
  if (record.org_id !== org_id || record.task_id !== task_id) return wrong('task_id')
  if (head !== null && head.agent_id !== record.agent_id) return wrong('agent_id')
  if (entry.client_prev_hash !== (record.client_prev_hash ?? null)) return wrong('client_prev_hash')
  if (entry.log_id !== logIdOf(Date.parse(record.received_at), entry.hash)) return wrong('log_id')
  const occurred_at = new Date(occurredAt(record.timestamp, previous_occurred_at)).toISOString()
  return entry.occurred_at === occurred_at ? null : wrong('occurred_at')
}

function afterProblem({ entry, published, previous_after }: EntryInTask, { after }: LogRecord): Problem | null {
  const wrong = (message: string) => ({ code: 'after_mismatch', field: 'after', message })
  const { size, root } = after
  if (size === 0 && root !== emptyRoot) return wrong('the record names an empty tree with another root')
  if (size > 0 && !published.get(size)?.includes(root))
    return wrong('the record names a checkpoint that was never published')
  if (size > entry.log_index) return wrong('the record names a checkpoint that came after it')
  if (size < previous_after) return wrong('the record names an older checkpoint than the one before it')
  return null
}

/** Size of the checkpoint that a record's text names; 0 when that cannot be told, which other checks then explain. */
export function afterSizeIn(record: string): number {
  return Number(/^\{"after":\{"root":"[0-9a-f]{64}","size":(\d{1,15})\}/.exec(record)?.[1] ?? 0)
}

function leafProblem({ entry, leaf }: EntryInTask): Problem | null {
  const sound =
    leaf !== null && leaf.type === 'step' && leaf.leaf_hash === entry.hash && leaf.received_at === entry.received_at
  return sound ? null : { code: 'not_in_tree', field: 'log_index', message: 'the log holds no such leaf at this index' }
}

function payloadProblem({ entry, payload, is_erased }: EntryInTask, record: LogRecord): Problem | null {
  const wrong = (field: string | null, message: string) => ({ code: 'payload_mismatch', field, message })
  if (payload === null) return wrong(null, 'the payload is missing; an erased one would leave an empty row')
  if (payload.received_at !== entry.received_at)
    return wrong('received_at', 'the payload stands at another time than its entry')
  if (payload.salts === null && payload.body === null) {
    if (is_erased(entry.log_index)) return null
    return {
      code: 'payload_lost',
      field: null,
      message: 'the payload is gone, and the log does not say that it was erased',
    }
  }
  const salts = canonicalObject(payload.salts ?? '')
  const values = canonicalObject(payload.body ?? '')
  if (salts === null) return wrong('salts', 'the salts are not in canonical form')
  if (values === null) return wrong('body', 'the values are not in canonical form')
  const field = firstUnopened({ ...record.data, evaluation: record.evaluation }, salts, values)
  return field === null ? null : wrong(field, `\`${field}\` is not the value that was committed to`)
}
