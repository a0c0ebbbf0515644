// From an accepted step to what is stored of it: the record, its hash, and the payload that opens its commitments.
import { type Decision, isExternalCall, type PolicyInput } from '@svc/engine'
import { leafHash, logIdOf, payloadFields, recordText, type StoredEntry } from '@svc/proof'
import { hasWritePermission, type LogRecord, type LogRequest, type Step } from '@svc/schemas'
import { type CommittedPayload, commitTo } from '../ledger/commitments.js'

/** A step number and the flags a log entry always has, whichever of its two shapes the step arrived in. */
export type AcceptedStep = Step & {
  readonly step: number
  readonly timestamp: string
  readonly is_external_call: boolean
  readonly has_write_permission: boolean
}

/** What a request says of a step, in the shape rules see. The flags follow from the step when they are not sent. */
export function acceptedStep(request: LogRequest, agent_id: string): AcceptedStep {
  const { task_id, step_type, timestamp } = request
  const payload = Object.fromEntries(
    payloadFields.flatMap((field) => (field in request ? [[field, request[field]]] : [])),
  )
  const step = { ...payload, agent_id, task_id, step_type, timestamp, step: request.step ?? request.step_number ?? 0 }
  return {
    ...step,
    is_external_call: request.is_external_call ?? isExternalCall(step),
    has_write_permission: request.has_write_permission ?? hasWritePermission(step),
  }
}

/** What the log knows of an entry before it is written. */
export interface Placement {
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
  /** The last checkpoint that was published before. */
  readonly after: LogRecord['after']
}

export interface NewEntry {
  readonly entry: StoredEntry
  readonly salts: string
  readonly body: string
}

/** In the order canonical JSON puts them, so that each value's text is made once. */
const sealedFields = payloadFields.toSorted()

/** Commits to every payload field that was sent, with a fresh salt each. */
export function sealPayload(request: LogRequest): CommittedPayload {
  return commitTo(
    Object.fromEntries(
      sealedFields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])),
    ),
  )
}

/** Makes the entry: commits to the evaluation, and hashes the record. */
export function makeEntry(
  step: AcceptedStep,
  payload: CommittedPayload,
  place: Placement,
  evaluation: readonly unknown[],
): NewEntry {
  const judged = commitTo({ evaluation })
  const record = recordText(recordOf(step, place, judged.data.evaluation ?? '', payload.data))
  // `evaluation` stands before every payload field, as canonical JSON wants it.
  const joined = (own: string, others: string) => (others === '' ? `{${own}}` : `{${own},${others}}`)
  return {
    entry: storedEntry(step, place, record, leafHash(record)),
    salts: joined(judged.salts, payload.salts),
    body: joined(judged.values, payload.values),
  }
}

function recordOf(
  step: AcceptedStep,
  place: Placement,
  evaluation: string,
  data: Readonly<Record<string, string>>,
): LogRecord {
  return {
    v: 'svc.log/1',
    type: 'step',
    org_id: place.org_id,
    agent_id: place.agent_id,
    task_id: step.task_id ?? '',
    seq: place.seq,
    step: step.step,
    step_type: step.step_type,
    timestamp: step.timestamp,
    received_at: new Date(place.received_at).toISOString(),
    is_external_call: step.is_external_call,
    has_write_permission: step.has_write_permission,
    prev_hash: place.prev_hash,
    ...(place.client_prev_hash !== null && { client_prev_hash: place.client_prev_hash }),
    api_key_id: place.api_key_id,
    policy_set: place.policy_set,
    evaluation,
    data: { ...data },
    after: { ...place.after },
  }
}

function storedEntry(step: AcceptedStep, place: Placement, record: string, hash: string): StoredEntry {
  const { seq, prev_hash, log_index, client_prev_hash, org_id, agent_id, api_key_id, policy_set } = place
  return {
    org_id,
    log_index,
    log_id: logIdOf(place.received_at, hash),
    agent_id,
    task_id: step.task_id ?? '',
    seq,
    step: step.step,
    step_type: step.step_type,
    timestamp: step.timestamp,
    occurred_at: new Date(place.occurred_at).toISOString(),
    received_at: new Date(place.received_at).toISOString(),
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

/** What the record commits to of an evaluation: each policy's answer, without details (docs/design/log.md §1). */
export function evaluationSummary(decision: Decision, policies: ReadonlyMap<number, PolicyInput>) {
  return decision.policies.map(({ policy_id, violated, violation_details }) => ({
    policy_id,
    version: policies.get(policy_id)?.version ?? 0,
    violated,
    code: violation_details?.code ?? null,
  }))
}
