// Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint and tlog-cosignature): the size and the root of a log as a
// few lines of text, with signatures.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { hexOf, sha256Hex } from '../json/hex.js'
import { isSmallOrder } from './small-order.js'

/** A `note` key signs the text (0x01); a `witness` key signs the text with the time at which it saw it (0x04). */
export type KeyKind = 'note' | 'witness'
const kindBytes: Readonly<Record<KeyKind, number>> = { note: 1, witness: 4 }

/** A public key, written as `name+hex id+base64 key`. */
export interface Verifier {
  readonly name: string
  readonly kind: KeyKind
  /** Four bytes that identify the key together with the name. */
  readonly key_id: Uint8Array
  /** 32 bytes (Ed25519). */
  readonly key: Uint8Array
}

export interface Signer {
  readonly verifier: Verifier
  readonly private_key: KeyObject
}

export interface Signature {
  readonly name: string
  readonly key_id: Uint8Array
  readonly bytes: Uint8Array
}

export interface Note {
  /** The signed text; it ends with a line break. */
  readonly text: string
  readonly signatures: readonly Signature[]
}

/** The first bytes of every Ed25519 key in DER (RFC 8410). */
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex')
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A signer from the 32 bytes of an Ed25519 seed. Throws RangeError for another length or an invalid name. */
export function signerOf(name: string, kind: KeyKind, seed: Uint8Array): Signer {
  if (seed.length !== 32) throw new RangeError(`an Ed25519 seed has 32 bytes, found ${seed.length}`)
  const private_key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(private_key).export({ format: 'der', type: 'spki' })
  return { verifier: verifierOf(name, kind, spki.subarray(publicPrefix.length)), private_key }
}

function verifierOf(name: string, kind: KeyKind, key: Uint8Array): Verifier {
  if (!isName(name))
    throw new RangeError(`the name of a key must have neither spaces nor a plus sign, found \`${name}\``)
  const whole = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(kindBytes[kind]), key])
  return { name, kind, key, key_id: createHash('sha256').update(whole).digest().subarray(0, 4) }
}

/** The key as a trust policy writes it. */
export function formatVerifier({ name, kind, key_id, key }: Verifier): string {
  const bytes = Buffer.concat([Buffer.of(kindBytes[kind]), key])
  return `${name}+${hexOf(key_id)}+${bytes.toString('base64')}`
}

/** For comparison by phone or on paper: the first half of the SHA-256 of the key, independent of its name. */
export function fingerprintOf({ key }: Verifier): string {
  const half = sha256Hex(key).slice(0, 32)
  return half.replace(/(....)(?=.)/g, '$1 ')
}

/** Reads a written key; null when it is malformed, its id does not match its bytes, or it is of small order. */
export function parseVerifier(text: string): Verifier | null {
  const [, name = '', id = '', encoded = ''] = /^([^+\n]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? []
  const bytes = decoded(encoded)
  const kind = (Object.keys(kindBytes) as KeyKind[]).find((one) => kindBytes[one] === bytes?.[0])
  if (!isName(name) || bytes?.length !== 33 || kind === undefined || isSmallOrder(bytes.subarray(1))) return null
  const verifier = verifierOf(name, kind, bytes.subarray(1))
  return hexOf(verifier.key_id) === id ? verifier : null
}

/** Signs the text. `time` is for a witness: when it saw the text, seconds since 1970. */
export function signText(text: string, { verifier, private_key }: Signer, time = 0): Signature {
  const { name, kind, key_id } = verifier
  const own = sign(null, Buffer.from(signedText(kind, text, time)), private_key)
  return { name, key_id, bytes: kind === 'witness' ? Buffer.concat([timeBytes(time), own]) : own }
}

/** Verifies a signature; `time` is when a witness saw the text, else null. Returns null for an invalid signature. */
export function verifySignature(
  text: string,
  signature: Signature,
  verifier: Verifier,
): { time: number | null } | null {
  const { name, kind, key, key_id } = verifier
  if (signature.name !== name || Buffer.compare(signature.key_id, key_id) !== 0) return null
  const bytes = Buffer.from(signature.bytes)
  const dated = kind === 'witness'
  if (bytes.length !== (dated ? 72 : 64)) return null
  const time = dated ? Number(bytes.readBigUInt64BE()) : 0
  if (time > maxTime) return null
  const known = createPublicKey({ key: Buffer.concat([publicPrefix, key]), format: 'der', type: 'spki' })
  const isValid = verify(null, Buffer.from(signedText(kind, text, time)), known, bytes.subarray(dated ? 8 : 0))
  return isValid ? { time: dated ? time : null } : null
}

/** The last second of the year 9999, since 1970. */
const maxTime = 253_402_300_799

function signedText(kind: KeyKind, text: string, time: number): string {
  return kind === 'witness' ? `cosignature/v1\ntime ${time}\n${text}` : text
}

function timeBytes(time: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(time))
  return bytes
}

/** The note as text: the signed text, an empty line, the signatures. */
export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`
}

/** One signature as a line of a note. */
export function signatureLine({ name, key_id, bytes }: Signature): string {
  return `— ${name} ${Buffer.concat([key_id, bytes]).toString('base64')}\n`
}

/** Far more than a checkpoint with many witnesses needs. */
const maxNoteLength = 64 * 1024

/** Reads a note; null when it is malformed. Signatures of unknown keys are kept. */
export function parseNote(note: string): Note | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks are the only control characters of a note
  if (note.length > maxNoteLength || /[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.isWellFormed()) return null
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return null
  const signatures = note
    .slice(end + 2, -1)
    .split('\n')
    .map(readSignature)
  const parsed = signatures.filter((signature) => signature !== null)
  return parsed.length === signatures.length ? { text: note.slice(0, end + 1), signatures: parsed } : null
}

/** Reads one signature line without its line break; null when it is malformed. */
export function readSignature(line: string): Signature | null {
  const [, name = '', encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? []
  const bytes = decoded(encoded)
  if (!isName(name) || bytes === null || bytes.length < 5) return null
  return { name, key_id: bytes.subarray(0, 4), bytes: bytes.subarray(4) }
}

export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
}

/** The text of a checkpoint, without signatures. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`
}

/** Reads the text of a checkpoint; null when it is malformed. Lines after the root are extensions and are ignored. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [origin = '', count = '', encoded = '', ...rest] = text.split('\n')
  const root = decoded(encoded)
  const size = Number(count)
  const isValid =
    origin !== '' &&
    /^(0|[1-9]\d*)$/.test(count) &&
    Number.isSafeInteger(size) &&
    root?.length === 32 &&
    rest.at(-1) === ''
  return isValid && root !== null ? { origin, size, root } : null
}

function isName(name: string): boolean {
  return name !== '' && !/[\s+]/u.test(name)
}

/** The bytes of canonical base64; null for any other text. */
function decoded(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}
