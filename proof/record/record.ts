// The record of a step, which is the hashed bytes of an entry, in the format svc.log/1 (docs/design/log.md §1). FROZEN: a new
// field is a new `v`.
import { hash } from 'node:crypto'
import { canonicalType, type LeafRecord, type LogRecord, type Step } from '@svc/schemas'
import { canonical } from '../json/canonical.js'
import { isHash } from '../json/checks.js'
import { hmacOfText } from './hmac.js'

/** Fields that enter the record as commitments only, so that they can be erased without breaking the chain. */
export const payloadFields = ['verb', 'step_name', 'input', 'output', 'properties', 'meta'] as const

export const saltBytes = 32

/** Root of the empty tree: SHA-256 of the empty string (RFC 6962 §2.1). */
export const emptyRoot = hash('sha256', '')

/** `after` of a record before the first published checkpoint. */
export const noCheckpoint = { size: 0, root: emptyRoot } as const

/**
 * Commitment to a value, lower-case hex: HMAC-SHA256 keyed with 32 random bytes, over "svc.payload/1" NUL field NUL
 * JCS(value). Without the salt the value can be neither confirmed nor guessed.
 */
export function commitment(field: string, value: unknown, salt: Uint8Array): string {
  return commitmentOfText(field, canonical(value), salt)
}

/** The same for a value that is given as its canonical text. */
export function commitmentOfText(field: string, text: string, salt: Uint8Array): string {
  return hmacOfText(salt, `svc.payload/1\0${field}\0${text}`)
}

type Members = Readonly<Record<string, unknown>>

/** The first field whose value does not open its commitment or that is not in all three; null when all fields open. */
export function firstUnopened(committed: Members, salts: Members, values: Members): string | null {
  const all = [committed, salts, values]
  for (const field of new Set(all.flatMap((members) => Object.keys(members)))) {
    const salt = salts[field]
    const opens =
      all.every((members) => Object.hasOwn(members, field)) &&
      isHash(salt) &&
      commitment(field, values[field], Buffer.from(salt, 'hex')) === committed[field]
    if (!opens) return field
  }
  return null
}

/** The hashed bytes of a record, as text. */
export function recordText(record: LogRecord | LeafRecord): string {
  return canonical(record)
}

/** SHA-256(0x00 ‖ record), lower-case hex: the hash in the API, the link of the chain and the RFC 6962 leaf hash. */
export function leafHash(record_text: string): string {
  return hash('sha256', `\0${record_text}`)
}

/** Digest of a set of effective policies, given in id order. */
export function policySetDigest(policies_text: string): string {
  return hash('sha256', policies_text)
}

/**
 * Identifier of an entry: a UUIDv7 (RFC 9562 §5.7) with `received_at` (ms since 1970) as its time and the first bits of the
 * hash as its random bits, so that a verifier can derive it.
 */
export function logIdOf(received_at: number, hash: string): string {
  const time = received_at.toString(16).padStart(12, '0')
  const variant = ((Number.parseInt(hash.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return `log_${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
}

/** The time in an entry's identifier, ms since 1970; null for a malformed identifier. */
export function receivedAtOf(log_id: string): number | null {
  const match = /^log_([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.exec(log_id)
  const time = match === null ? Number.NaN : Number.parseInt(`${match[1]}${match[2]}`, 16)
  return time <= maxTime ? time : null
}

/** The last millisecond of the year 9999. */
const maxTime = 253_402_300_799_999

/**
 * The digest that an approval binds to: SHA-256 hex of the JCS of {step_type, verb, step_name, input, properties without
 * svc.*}, absent keys omitted (docs/design/engine.md §3, gate_binds_action).
 */
export function actionDigest(step: Step): string {
  const { verb, step_name, input } = step
  const action = {
    step_type: canonicalType(step.step_type),
    verb,
    step_name,
    input,
    properties: withoutOwn(step.properties),
  }
  return hash('sha256', canonical(action))
}

/**
 * The digest of an approval that binds some fields of a step only: SHA-256 hex of the JCS of {path: value}, in which
 * `step_type` is always one of the paths.
 */
export function fieldsDigest(step_type: string, fields: Members): string {
  return hash('sha256', canonical({ ...fields, step_type: canonicalType(step_type) }))
}

/** Few steps have own properties, and a copy costs more than the hash. */
function withoutOwn(properties: Step['properties']): Step['properties'] {
  if (properties === undefined || !Object.keys(properties).some(isOwn)) return properties
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !isOwn(key)))
}

function isOwn(key: string): boolean {
  return key.startsWith('svc') && (key.length === 3 || key[3] === '.')
}
