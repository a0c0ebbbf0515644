// What a bundle says of itself besides its records: who signed it, which checkpoints, and why something is missing.
import { createHash } from 'node:crypto'
import type { BundleManifest } from '@svc/schemas'
import {
  type BundledAuthority,
  type BundledCheckpoint,
  bundleFiles,
  manifestStatement,
  parseBundleManifest,
} from '../bundle/bundle.js'
import type { Report } from '../bundle/bundle-walk.js'
import { openPayload, readRecord } from '../bundle/bundled-record.js'
import { readCanonical } from '../json/canonical-text.js'
import { isHash } from '../json/checks.js'
import {
  type Checkpoint,
  type Note,
  parseCheckpoint,
  parseNote,
  parseVerifier,
  verifySignature,
} from '../notes/note.js'
import { signedBefore, signedByLog, type TrustPolicy } from '../notes/trust.js'
import { leafHash } from '../record/record.js'
import { type Removal, removalIn } from '../record/removals.js'
import { isPastOf, type Restart, restartIn, type SignedRoot } from '../record/restarts.js'
import { verifyConsistency, verifyInclusion } from '../tree/merkle.js'
import { type Archive, linesOf, textOf, Unreadable } from './archive.js'

/** The manifest, once it is known to be signed by a key that is trusted for its log. Throws Unreadable. */
export async function signedManifest(archive: Archive, policy: TrustPolicy): Promise<BundleManifest> {
  const text = await textOf(bundleFiles.manifest, archive.content(bundleFiles.manifest))
  const manifest = parseBundleManifest(text)
  if (manifest === null) throw new Unreadable('not_a_bundle', bundleFiles.manifest, 'this is no manifest of a bundle')
  const note = parseNote(await textOf(bundleFiles.signature, archive.content(bundleFiles.signature)))
  const statement = manifestStatement(manifest.origin, createHash('sha256').update(text).digest('hex'))
  if (note === null || note.text !== statement)
    throw new Unreadable('manifest_altered', bundleFiles.manifest, 'the manifest is not the one that was signed')
  if (!policy.logs.some(({ name }) => name === manifest.origin))
    throw new Unreadable('untrusted', null, `the trust policy names no key of the log \`${manifest.origin}\``)
  if (signedByLog(note, manifest.origin, policy) === null)
    throw new Unreadable(
      'untrusted',
      bundleFiles.signature,
      'the bundle is not signed by a key that is trusted for its log',
    )
  // A signature of another of the log's keys cannot be trusted, but it must not be damaged either.
  const keys = manifest.keys.map(parseVerifier).filter((key) => key !== null)
  const sound = note.signatures.every((one) => keys.some((key) => verifySignature(note.text, one, key) !== null))
  const isOnce = new Set(note.signatures.map((one) => String(one.key_id))).size === note.signatures.length
  if (!sound || !isOnce) throw new Unreadable('bytes_altered', bundleFiles.signature, 'a signature in it is none')
  return manifest
}

/**
 * Every file as the manifest has it, whatever the container is; whether that is the one that was issued. Throws Unreadable
 * for the first file that is not.
 */
export async function checkFiles(archive: Archive, { files }: BundleManifest): Promise<boolean> {
  const { entries } = archive
  const listed = [...files.map(({ name }) => name), bundleFiles.manifest, bundleFiles.signature]
  const missing = listed.find((name) => !entries.some((entry) => entry.name === name))
  if (missing !== undefined) throw new Unreadable('bytes_altered', missing, 'the file is not in the bundle')
  const other = entries.find(({ name }) => !listed.includes(name))
  if (other !== undefined) throw new Unreadable('bytes_altered', other.name, 'the manifest lists no such file')
  const isStored = entries.every(({ name, deflated }) => files.some((one) => one.name === name) || !deflated)
  let is_issued = archive.is_issued && isStored && listed.join() === entries.map(({ name }) => name).join()
  for (const { name, bytes, sha256, packed, packed_sha256 } of files) {
    const entry = entries.find((one) => one.name === name)
    if (entry?.bytes !== bytes || (await archive.contentHash(name)) !== sha256)
      throw new Unreadable('bytes_altered', name, 'the file is not the one that the manifest names')
    is_issued &&= entry.packed === packed && (await archive.packedHash(name)) === packed_sha256
  }
  return is_issued
}

/** Reads a signed checkpoint; null when it is none. */
export function readCheckpoint(text: string): { readonly note: Note; readonly checkpoint: Checkpoint } | null {
  const note = parseNote(text)
  const checkpoint = note === null ? null : parseCheckpoint(note.text)
  return note === null || checkpoint === null ? null : { note, checkpoint }
}

export interface SoundCheckpoints {
  readonly checkpoints: BundledCheckpoint[]
  /** Earlier incarnations of the log that no trusted key speaks for; the log grew out of their checkpoints all the same. */
  readonly unsigned_logs: string[]
  /** Those that a trusted key has signed, with the log that they name. */
  readonly signed: SignedRoot[]
}

/** The checkpoints of the log that its records name, those that hold; the others are reported. */
export async function soundCheckpoints(
  archive: Archive,
  { origin, records, checkpoint }: BundleManifest,
  policy: TrustPolicy,
  report: Report,
): Promise<SoundCheckpoints> {
  const name = bundleFiles.checkpoints
  const sound: BundledCheckpoint[] = []
  const signed: SignedRoot[] = []
  const unsigned = new Set<string>()
  for await (const line of linesOf(name, archive.content(name))) {
    const listed = parsed<BundledCheckpoint>(name, line, isCheckpoint)
    const where = `checkpoint ${listed.size}`
    const read = readCheckpoint(listed.note)
    const says = read?.checkpoint
    if (read === null || says === undefined || says.size !== listed.size || hex(says.root) !== listed.root) {
      report('checkpoint_invalid', where, 'its note says something else')
      continue
    }
    const isNamed = [...policy.logs, ...policy.past].some((key) => key.name === says.origin)
    if (!isPastOf(origin, says.origin)) report('other_log', where, `it is of the log \`${says.origin}\``)
    else if (isNamed && signedBefore(read.note, says.origin, policy) === null)
      report('checkpoint_unsigned', where, 'it is not signed by a key that is trusted for its log')
    else if (isInRecords(listed, records) || continues(listed, checkpoint)) {
      sound.push(listed)
      if (isNamed) signed.push({ origin: says.origin, size: listed.size, root: listed.root })
      else unsigned.add(says.origin)
    } else report('fork', where, 'nothing shows that the log grew out of it')
  }
  return { checkpoints: sound, unsigned_logs: [...unsigned].sort(), signed }
}

/** Whether the records of the bundle reach the checkpoint, so that their walk checks its root. */
function isInRecords({ size, proof }: BundledCheckpoint, { first, end }: BundleManifest['records']): boolean {
  return proof === undefined && size > first && size <= end
}

function continues({ size, root, proof }: BundledCheckpoint, now: BundleManifest['checkpoint']): boolean {
  return verifyConsistency(size, now.size, (proof ?? []).map(bytesOfHex), bytesOfHex(root), bytesOfHex(now.root))
}

/** Removals and restarts outside the period, each proven to be in the log; what is not is reported. */
export interface ProvenLeaves {
  readonly removals: Removal[]
  readonly restarts: Restart[]
}

/** Reads the leaves outside the period that say something of what is in it. */
export async function provenLeaves(
  archive: Archive,
  { checkpoint }: BundleManifest,
  report: Report,
): Promise<ProvenLeaves> {
  const name = bundleFiles.authority
  const removals = new Map<number, Removal>()
  const restarts = new Map<number, Restart>()
  for await (const line of linesOf(name, archive.content(name))) {
    const { log_index, record, salts, body, proof } = parsed<BundledAuthority>(name, line, isAuthority)
    const where = `entry ${log_index}`
    const [hash, root] = [bytesOfHex(leafHash(record)), bytesOfHex(checkpoint.root)]
    const { value } = readRecord(record)
    const opened = value === null ? null : openPayload(`{"salts":${salts},"values":${body}}`, value).value
    const removal = value === null || opened === null ? null : removalIn(value, opened, log_index)
    const restart = value === null || opened === null ? null : restartIn(value, opened, log_index)
    if (!verifyInclusion(hash, log_index, checkpoint.size, proof.map(bytesOfHex), root))
      report('not_in_log', where, 'nothing shows that this entry is in the log')
    else if (removal !== null) removals.set(log_index, removal)
    else if (restart !== null) restarts.set(log_index, restart)
    else report('record_invalid', where, 'this entry records neither a removal nor a restart')
  }
  return { removals: [...removals.values()], restarts: [...restarts.values()] }
}

/** Digests of the policy sets at hand. */
export async function policyDigests(archive: Archive): Promise<Set<string>> {
  const name = bundleFiles.policy_sets
  const digests = new Set<string>()
  for await (const line of linesOf(name, archive.content(name)))
    digests.add(createHash('sha256').update(line).digest('hex'))
  return digests
}

type Members = Readonly<Record<string, unknown>>

function parsed<T>(name: string, line: string, isOne: (members: Members) => boolean): T {
  const { value, problem } = readCanonical(line)
  if (problem !== null) throw new Unreadable('not_a_bundle', name, `a line ${problem}`)
  if (typeof value === 'object' && value !== null && isOne(value as Members)) return value as T
  throw new Unreadable('not_a_bundle', name, 'a line says something else than it should')
}

function isCheckpoint({ size, root, note, proof }: Members): boolean {
  return (
    Number.isSafeInteger(size) && isHash(root) && typeof note === 'string' && (proof === undefined || isProof(proof))
  )
}

function isAuthority({ log_index, record, salts, body, proof }: Members): boolean {
  const texts = [record, salts, body].every((text) => typeof text === 'string')
  return Number.isSafeInteger(log_index) && texts && isProof(proof)
}

function isProof(value: unknown): boolean {
  return Array.isArray(value) && value.every(isHash)
}

function bytesOfHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
