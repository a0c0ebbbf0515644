// One line of a bundle's records and one of its payloads: whether they are what they should be, and what they say.
import type { LeafRecord, LogRecord } from '@svc/schemas'
import { type CanonicalReading, readCanonical } from '../json/canonical-text.js'
import { isHash, isMap, isTime } from '../json/checks.js'
import { firstUnopened } from '../record/record.js'

export type AnyRecord = LogRecord | LeafRecord

const isText = (value: unknown) => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isOrdinal = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1

/** Members that every record has, and what they are. */
const envelope = {
  v: (value: unknown) => value === 'svc.log/1',
  type: isText,
  org_id: isText,
  received_at: isTime,
  data: (value: unknown) => isMap(value) && Object.values(value).every(isHash),
  after: (value: unknown) =>
    isMap(value) &&
    Object.keys(value).join() === 'root,size' &&
    isHash(value.root) &&
    Number.isSafeInteger(value.size) &&
    (value.size as number) >= 0,
} as const

const ofLeaf = { ...envelope, subject_id: isText }
const ofStep = {
  ...envelope,
  ...{ agent_id: isText, task_id: isText, seq: isOrdinal, step: isOrdinal, step_type: isText, timestamp: isText },
  ...{ is_external_call: isBoolean, has_write_permission: isBoolean, api_key_id: isText, policy_set: isHash },
  ...{ evaluation: isHash, prev_hash: (value: unknown) => value === '' || isHash(value), client_prev_hash: isText },
}
const leafTypes = ['incident', 'event', 'erasure', 'prune', 'key', 'report'] satisfies LeafRecord['type'][]

/** Reads a record: canonical, of a known version and type, with each member it must have and no other. */
export function readRecord(text: string): CanonicalReading<AnyRecord> {
  const { value, problem } = readCanonical(text)
  if (problem !== null || !isMap(value)) return no(problem ?? 'is no object')
  const isStep = value.type === 'step'
  if (!isStep && !leafTypes.some((type) => type === value.type)) return no(`is of no known type`)
  const shape: Readonly<Record<string, (value: unknown) => boolean>> = isStep ? ofStep : ofLeaf
  const missing = Object.keys(shape).find((name) => !(name in value) && name !== 'client_prev_hash')
  if (missing !== undefined) return no(`has no \`${missing}\``)
  const wrong = Object.keys(value).find((name) => !Object.hasOwn(shape, name) || !shape[name]?.(value[name]))
  if (wrong !== undefined) return no(`has a \`${wrong.slice(0, 80)}\` that is none`)
  return { value: value as unknown as AnyRecord, problem: null }
}

/** What a payload opens; null when it is gone. */
export type Opened = Readonly<Record<string, unknown>> | null

/** Reads a payload and holds it against what its record commits to. */
export function openPayload(text: string, record: AnyRecord): CanonicalReading<Opened> {
  const { value, problem } = readCanonical(text)
  if (problem !== null) return no(problem)
  if (value === null) return { value: null, problem: null }
  if (!isMap(value) || Object.keys(value).join() !== 'salts,values') return no('is not salts and values')
  const { salts, values } = value
  if (!isMap(salts) || !isMap(values)) return no('is not salts and values')
  const committed = record.type === 'step' ? { ...record.data, evaluation: record.evaluation } : record.data
  const field = firstUnopened(committed, salts, values)
  if (field !== null) return no(`: \`${field.slice(0, 80)}\` is not the value that was committed to`)
  return { value: values, problem: null }
}

function no(problem: string): CanonicalReading<never> {
  return { value: null, problem }
}
