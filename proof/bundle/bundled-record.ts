// Reads and checks one record and one payload of a bundle.
import type { LeafRecord, LogRecord } from '@svc/schemas'
import { type CanonicalReading, readCanonical } from '../json/canonical-text.js'
import { isCount, isHash, isMap, isTime } from '../json/checks.js'
import { firstUnopened } from '../record/record.js'

export type AnyRecord = LogRecord | LeafRecord

const isText = (value: unknown) => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isOrdinal = (value: unknown) => isCount(value) && value >= 1

/** Members of every record, with their checks. */
const envelope = {
  v: (value: unknown) => value === 'svc.log/1',
  type: isText,
  org_id: isText,
  received_at: isTime,
  data: (value: unknown) => isMap(value) && Object.values(value).every(isHash),
  after: (value: unknown) =>
    isMap(value) && Object.keys(value).join() === 'root,size' && isHash(value.root) && isCount(value.size),
} as const

const ofLeaf = { ...envelope, subject_id: isText }
const ofStep = {
  ...envelope,
  agent_id: isText,
  task_id: isText,
  seq: isOrdinal,
  step: isOrdinal,
  step_type: isText,
  timestamp: isText,
  is_external_call: isBoolean,
  has_write_permission: isBoolean,
  api_key_id: isText,
  policy_set: isHash,
  evaluation: isHash,
  prev_hash: (value: unknown) => value === '' || isHash(value),
  client_prev_hash: isText,
}
const leafTypes = ['incident', 'event', 'erasure', 'prune', 'key', 'report'] satisfies LeafRecord['type'][]

/** Reads a record: canonical, of a known version and type, with every required member and no other. */
export function readRecord(text: string): CanonicalReading<AnyRecord> {
  const { value, problem } = readCanonical(text)
  if (problem !== null || !isMap(value)) return invalid(problem ?? 'is not an object')
  const isStep = value.type === 'step'
  if (!isStep && !leafTypes.some((type) => type === value.type)) return invalid(`has an unknown type`)
  const shape: Readonly<Record<string, (value: unknown) => boolean>> = isStep ? ofStep : ofLeaf
  const missing = Object.keys(shape).find((name) => !(name in value) && name !== 'client_prev_hash')
  if (missing !== undefined) return invalid(`lacks \`${missing}\``)
  const wrong = Object.keys(value).find((name) => !Object.hasOwn(shape, name) || !shape[name]?.(value[name]))
  if (wrong !== undefined) return invalid(`has an unknown or invalid \`${wrong.slice(0, 80)}\``)
  return { value: value as unknown as AnyRecord, problem: null }
}

/** The opened values of a payload; null once erased. */
export type Opened = Readonly<Record<string, unknown>> | null

/** Reads a payload and checks it against the commitments of its record. */
export function openPayload(text: string, record: AnyRecord): CanonicalReading<Opened> {
  const { value, problem } = readCanonical(text)
  if (problem !== null) return invalid(problem)
  if (value === null) return { value: null, problem: null }
  if (!isMap(value) || Object.keys(value).join() !== 'salts,values')
    return invalid('does not have exactly `salts` and `values`')
  const { salts, values } = value
  if (!isMap(salts) || !isMap(values)) return invalid('does not have exactly `salts` and `values`')
  const committed = record.type === 'step' ? { ...record.data, evaluation: record.evaluation } : record.data
  const field = firstUnopened(committed, salts, values)
  if (field !== null) return invalid(`does not open the commitment to \`${field.slice(0, 80)}\``)
  return { value: values, problem: null }
}

function invalid(problem: string): CanonicalReading<never> {
  return { value: null, problem }
}
