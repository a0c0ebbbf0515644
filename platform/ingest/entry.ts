// From an accepted step to its stored form: the record, its hash, and the payload that opens the commitments.
import { isExternalCall } from '@svc/engine/parts'
import { leafHash, logIdOf, payloadFields, recordText, type StoredEntry } from '@svc/proof'
import { hasWritePermission, isoTime, type LogRecord, type Step } from '@svc/schemas'
import { type CommittedPayload, commitTo } from '../ledger/commitments.js'
import type { StepRequest } from './step-request.js'

/** A step with the number and the flags that every log entry has. */
export type AcceptedStep = Step & {
  readonly step: number
  readonly timestamp: string
  readonly is_external_call: boolean
  readonly has_write_permission: boolean
}

/** The step of a request as rules see it; `next` is its number if it has none. Flags that are not sent follow from the step. */
export function acceptedStep(request: StepRequest, agent_id: string, next: number): AcceptedStep {
  const { task_id, step_type, timestamp } = request
  const payload = Object.fromEntries(
    payloadFields.flatMap((field) => (field in request ? [[field, request[field]]] : [])),
  )
  const step = {
    ...payload,
    agent_id,
    task_id,
    step_type,
    timestamp,
    step: request.step ?? request.step_number ?? next,
  }
  return {
    ...step,
    is_external_call: request.is_external_call ?? isExternalCall(step),
    has_write_permission: request.has_write_permission ?? hasWritePermission(step),
  }
}

/** The fields that the log assigns to an entry. */
interface LogFields {
  readonly org_id: string
  readonly agent_id: string
  readonly api_key_id: string
  readonly policy_set: string
  readonly seq: number
  readonly prev_hash: string
  readonly log_index: number
  readonly received_at: number
  readonly occurred_at: number
  readonly client_prev_hash: string | null
  /** The last published checkpoint. */
  readonly after: LogRecord['after']
}

export interface NewEntry {
  readonly entry: StoredEntry
  readonly salts: string
  readonly body: string
}

/** In the order of canonical JSON, so that each value is serialized once. */
const committedFields = payloadFields.toSorted()

/** Commits to each payload field of the request, with fresh salts. */
export function commitPayload(request: StepRequest): CommittedPayload {
  return commitTo(
    Object.fromEntries(
      committedFields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])),
    ),
  )
}

/** Makes the entry: commits to the evaluation and hashes the record. */
export function makeEntry(
  step: AcceptedStep,
  payload: CommittedPayload,
  fields: LogFields,
  evaluation: readonly unknown[],
): NewEntry {
  const evaluated = commitTo({ evaluation })
  const record = recordText(recordOf(step, fields, evaluated.data.evaluation ?? '', payload.data))
  // In canonical JSON `evaluation` comes before every payload field.
  const joined = (own: string, others: string) => (others === '' ? `{${own}}` : `{${own},${others}}`)
  return {
    entry: storedEntry(step, fields, record, leafHash(record)),
    salts: joined(evaluated.salts, payload.salts),
    body: joined(evaluated.values, payload.values),
  }
}

function recordOf(
  step: AcceptedStep,
  fields: LogFields,
  evaluation: string,
  data: Readonly<Record<string, string>>,
): LogRecord {
  return {
    v: 'svc.log/1',
    type: 'step',
    org_id: fields.org_id,
    agent_id: fields.agent_id,
    task_id: step.task_id ?? '',
    seq: fields.seq,
    step: step.step,
    step_type: step.step_type,
    timestamp: step.timestamp,
    received_at: isoTime(fields.received_at),
    is_external_call: step.is_external_call,
    has_write_permission: step.has_write_permission,
    prev_hash: fields.prev_hash,
    ...(fields.client_prev_hash !== null && { client_prev_hash: fields.client_prev_hash }),
    api_key_id: fields.api_key_id,
    policy_set: fields.policy_set,
    evaluation,
    data: { ...data },
    after: { ...fields.after },
  }
}

function storedEntry(step: AcceptedStep, fields: LogFields, record: string, hash: string): StoredEntry {
  const { seq, prev_hash, log_index, client_prev_hash, org_id, agent_id, api_key_id, policy_set } = fields
  return {
    org_id,
    log_index,
    log_id: logIdOf(fields.received_at, hash),
    agent_id,
    task_id: step.task_id ?? '',
    seq,
    step: step.step,
    step_type: step.step_type,
    timestamp: step.timestamp,
    occurred_at: isoTime(fields.occurred_at),
    received_at: isoTime(fields.received_at),
    is_external_call: step.is_external_call,
    has_write_permission: step.has_write_permission,
    prev_hash,
    client_prev_hash,
    api_key_id,
    policy_set,
    hash,
    record,
  }
}
