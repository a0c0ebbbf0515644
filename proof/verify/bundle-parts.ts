// The parts of a bundle besides its records: the signed manifest, checkpoints, policy sets.
import type { BundleManifest } from '@svc/schemas'
import { type BundledCheckpoint, bundleFiles, manifestStatement, parseBundleManifest } from '../bundle/bundle.js'
import type { Report } from '../bundle/bundle-walk.js'
import { readCanonical } from '../json/canonical-text.js'
import { isHash, isMap } from '../json/checks.js'
import { bytesOfHex, hexOf, sha256Hex } from '../json/hex.js'
import {
  type Checkpoint,
  type Note,
  parseCheckpoint,
  parseNote,
  parseVerifier,
  verifySignature,
} from '../notes/note.js'
import { signedBefore, signedByLog, type TrustPolicy } from '../notes/trust.js'
import { isPastOf, type SignedRoot } from '../record/restarts.js'
import { verifyConsistency } from '../tree/merkle.js'
import { type Archive, linesOf, textOf } from './archive.js'
import { BundleError } from './bundle-error.js'

/** The manifest; a key that is trusted for its log must have signed it. Throws BundleError. */
export async function signedManifest(archive: Archive, policy: TrustPolicy): Promise<BundleManifest> {
  const text = await textOf(bundleFiles.manifest, archive.content(bundleFiles.manifest))
  const manifest = parseBundleManifest(text)
  if (manifest === null)
    throw new BundleError('not_a_bundle', bundleFiles.manifest, 'the file is not a manifest of a bundle')
  const note = parseNote(await textOf(bundleFiles.signature, archive.content(bundleFiles.signature)))
  const statement = manifestStatement(manifest.origin, sha256Hex(text))
  if (note === null || note.text !== statement)
    throw new BundleError('manifest_altered', bundleFiles.manifest, 'the signature is of another manifest')
  if (!policy.logs.some(({ name }) => name === manifest.origin))
    throw new BundleError('untrusted', null, `the trust policy names no key of the log \`${manifest.origin}\``)
  if (signedByLog(note, manifest.origin, policy) === null)
    throw new BundleError(
      'untrusted',
      bundleFiles.signature,
      'no key that is trusted for the log has signed the bundle',
    )
  // The signatures of the log's other keys must be valid too, so that damage to them is found.
  const keys = manifest.keys.map(parseVerifier).filter((key) => key !== null)
  const areValid = note.signatures.every((one) => keys.some((key) => verifySignature(note.text, one, key) !== null))
  const areDistinct = new Set(note.signatures.map((one) => String(one.key_id))).size === note.signatures.length
  if (!areValid || !areDistinct)
    throw new BundleError('bytes_altered', bundleFiles.signature, 'a signature is invalid or occurs twice')
  return manifest
}

/**
 * Compares every file with the manifest; returns whether the container is the issued one. Throws BundleError for the first
 * file that differs.
 */
export async function checkFiles(archive: Archive, { files }: BundleManifest): Promise<boolean> {
  const { entries } = archive
  const listed = [...files.map(({ name }) => name), bundleFiles.manifest, bundleFiles.signature]
  const missing = listed.find((name) => !entries.some((entry) => entry.name === name))
  if (missing !== undefined) throw new BundleError('bytes_altered', missing, 'the bundle does not contain this file')
  const other = entries.find(({ name }) => !listed.includes(name))
  if (other !== undefined) throw new BundleError('bytes_altered', other.name, 'the manifest does not list this file')
  const isStored = entries.every(({ name, deflated }) => files.some((one) => one.name === name) || !deflated)
  let is_issued = archive.is_issued && isStored && listed.join() === entries.map(({ name }) => name).join()
  for (const { name, bytes, sha256, packed, packed_sha256 } of files) {
    const entry = entries.find((one) => one.name === name)
    if (entry?.bytes !== bytes || (await archive.contentHash(name)) !== sha256)
      throw new BundleError('bytes_altered', name, 'the size or SHA-256 of the file differs from the manifest')
    is_issued &&= entry.packed === packed && (await archive.packedHash(name)) === packed_sha256
  }
  return is_issued
}

/** Reads a signed checkpoint; null when the text is not one. */
export function readCheckpoint(text: string): { readonly note: Note; readonly checkpoint: Checkpoint } | null {
  const note = parseNote(text)
  const checkpoint = note === null ? null : parseCheckpoint(note.text)
  return note === null || checkpoint === null ? null : { note, checkpoint }
}

export interface ValidCheckpoints {
  readonly checkpoints: BundledCheckpoint[]
  /** Earlier epochs of the log without a key in the trust policy; only the tree proves their checkpoints. */
  readonly unsigned_logs: string[]
  /** The checkpoints that a trusted key has signed, with the log that they name. */
  readonly signed: SignedRoot[]
}

/** The valid checkpoints among those that records name; the others are reported. */
export async function validCheckpoints(
  archive: Archive,
  { origin, records, checkpoint }: BundleManifest,
  policy: TrustPolicy,
  report: Report,
): Promise<ValidCheckpoints> {
  const name = bundleFiles.checkpoints
  const checkpoints: BundledCheckpoint[] = []
  const signed: SignedRoot[] = []
  const unsigned = new Set<string>()
  for await (const line of linesOf(name, archive.content(name))) {
    const listed = parsed<BundledCheckpoint>(name, line, isCheckpoint)
    const where = `checkpoint ${listed.size}`
    const read = readCheckpoint(listed.note)
    const noted = read?.checkpoint
    if (read === null || noted === undefined || noted.size !== listed.size || hexOf(noted.root) !== listed.root) {
      report('checkpoint_invalid', where, 'the size or root of its note differs')
      continue
    }
    const isNamed = [...policy.logs, ...policy.past].some((key) => key.name === noted.origin)
    if (!isPastOf(origin, noted.origin))
      report('other_log', where, `the checkpoint is of another log, \`${noted.origin}\``)
    else if (isNamed && signedBefore(read.note, noted.origin, policy) === null)
      report('checkpoint_unsigned', where, 'no key that is trusted for its log has signed it')
    else if (isInRecords(listed, records) || continues(listed, checkpoint)) {
      checkpoints.push(listed)
      if (isNamed) signed.push({ origin: noted.origin, size: listed.size, root: listed.root })
      else unsigned.add(noted.origin)
    } else report('fork', where, 'no proof shows that the log continues it')
  }
  return { checkpoints, unsigned_logs: [...unsigned].sort(), signed }
}

/** True if the records of the bundle reach the checkpoint, so that the walk over them compares its root. */
function isInRecords({ size, proof }: BundledCheckpoint, { first, end }: BundleManifest['records']): boolean {
  return proof === undefined && size > first && size <= end
}

function continues({ size, root, proof }: BundledCheckpoint, now: BundleManifest['checkpoint']): boolean {
  return verifyConsistency(size, now.size, (proof ?? []).map(bytesOfHex), bytesOfHex(root), bytesOfHex(now.root))
}

/** Digests of the policy sets in the bundle. */
export async function policyDigests(archive: Archive): Promise<Set<string>> {
  const name = bundleFiles.policy_sets
  const digests = new Set<string>()
  for await (const line of linesOf(name, archive.content(name))) digests.add(sha256Hex(line))
  return digests
}

export type Members = Readonly<Record<string, unknown>>

/** A line as a value of its type. Throws BundleError. */
export function parsed<T>(name: string, line: string, isOne: (members: Members) => boolean): T {
  const { value, problem } = readCanonical(line)
  if (problem !== null) throw new BundleError('not_a_bundle', name, `a line ${problem}`)
  if (isMap(value) && isOne(value)) return value as T
  throw new BundleError('not_a_bundle', name, 'a line has missing or invalid members')
}

function isCheckpoint({ size, root, note, proof }: Members): boolean {
  return (
    Number.isSafeInteger(size) && isHash(root) && typeof note === 'string' && (proof === undefined || isProof(proof))
  )
}

export function isProof(value: unknown): boolean {
  return Array.isArray(value) && value.every(isHash)
}
