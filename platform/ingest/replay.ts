// Recognizes replays (docs/design/log.md §4): the same task, step number and content is the same entry.

import { commitment, parseJson, payloadFields, type StoredEntry } from '@svc/proof'
import { canonicalType, type LogRecord } from '@svc/schemas'
import type { AcceptedStep } from './entry.js'

/** An entry with the same task and step number; `salts` is null once its payload is erased. */
export interface Candidate {
  readonly entry: StoredEntry
  readonly salts: string | null
}

/**
 * True if `step` equals the step of the entry in every member, with aliases resolved. Payloads are compared by their
 * commitments, so that no other digest of them is stored; an erased payload counts as equal.
 */
export function isSameStep(candidate: Candidate, step: AcceptedStep, client_prev_hash: string | null): boolean {
  const { entry, salts } = candidate
  const sameEnvelope =
    entry.agent_id === step.agent_id &&
    entry.step === step.step &&
    canonicalType(entry.step_type) === canonicalType(step.step_type) &&
    entry.timestamp === step.timestamp &&
    entry.is_external_call === step.is_external_call &&
    entry.has_write_permission === step.has_write_permission &&
    (entry.client_prev_hash || null) === client_prev_hash
  if (!sameEnvelope) return false
  const { data } = parseJson(entry.record) as LogRecord
  if (payloadFields.some((field) => (step[field] !== undefined) !== field in data)) return false
  if (salts === null) return true
  const salt = parseJson(salts) as Record<string, string>
  return Object.entries(data).every(
    ([field, committed]) =>
      commitment(field, step[field as keyof AcceptedStep], Buffer.from(salt[field] ?? '', 'hex')) === committed,
  )
}
