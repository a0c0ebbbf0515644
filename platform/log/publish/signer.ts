// The keys of the log and the record of what they signed. Both are stored outside the database, so that write access to the
// database is not enough to change them (docs/design/log.md §5).
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import {
  type Checkpoint,
  fingerprintOf,
  formatCheckpoint,
  formatNote,
  formatVerifier,
  type Hash,
  hexOf,
  manifestStatement,
  signerOf,
  signText,
  verifyConsistency,
} from '@svc/proof'
import { isoTime, type LogKey } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import { originOf } from './origin.js'
import { type SignedState, stateAfter, stateIn } from './signed-state.js'
import { type KeyPeriod, keyPeriods, publicKeyOf, signingKeysIn } from './signing-keys.js'

export interface LogSigner {
  /** The public key that signs now; hex. */
  readonly public_key: string
  /** True if a public key (hex) signs or has signed. */
  readonly knows: (public_key: string) => boolean
  /** The signing key as a trust policy names it for the log of an origin. */
  readonly verifierOf: (origin: string) => string
  /** Every key that signs or has signed, as a trust policy names it: earlier signatures stay valid. */
  readonly everyVerifierOf: (origin: string) => readonly string[]
  /** Every key with its period, for each epoch of the log of an organization. */
  readonly keysOf: (log_host: string, org_id: string) => readonly LogKey[]
  /** The last signed checkpoint of an origin, with earlier ones; null before the first. */
  readonly last: (origin: string) => SignedState | null
  /** The epoch of an organization's log that may be signed: 1 until an operator begins another. */
  readonly epochOf: (org_id: string) => number
  /** Begins an epoch, whose log must continue the tree that was read for it. Only an operator's command may call it. */
  readonly beginEpoch: (org_id: string, epoch: number, read: SignedState) => void
  /**
   * Records a checkpoint and signs it. Throws ForkRejected unless the proof shows that the tree continues the last signed
   * one; the first checkpoint of a log needs no proof.
   */
  readonly sign: (checkpoint: Checkpoint, proof: readonly Hash[]) => string
  /** Signs a bundle by the SHA-256 of its manifest (hex); `keys` are the signing keys. */
  readonly signManifest: (origin: string, sha256: string) => { readonly note: string; readonly keys: readonly string[] }
}

/**
 * The log does not continue the signed tree. The message must not change while the log grows: each message is reported
 * once, and the report itself adds an event.
 */
export class ForkRejected extends Error {
  readonly code = 'FORK'
}

/** The log holds less than its signer has signed: a backup was restored, or its end was deleted. */
export class LogBehind extends ForkRejected {}

/** Opens the keys in the folder, or creates one; `clock` is ms since 1970. Throws CONFLICT when a file is damaged. */
export function openSigner(folder: string, clock: () => number): LogSigner {
  // The keys are read for each signature: a rotated key signs from the next checkpoint on, in every process.
  const signers = (origin: string) => {
    const { seed, retiring } = signingKeysIn(folder)
    const along = retiring.filter(({ until }) => until > clock()).map((key) => Buffer.from(key.seed, 'hex'))
    return [seed, ...along].map((own) => signerOf(origin, 'note', own))
  }
  /** The seeds of every key that signs or has signed. */
  const everySeed = () => {
    const { seed, retiring } = signingKeysIn(folder)
    return [seed, ...retiring.map((key) => Buffer.from(key.seed, 'hex'))]
  }
  const signed = (origin: string, text: string) =>
    formatNote({ text, signatures: signers(origin).map((signer) => signText(text, signer)) })
  const statePath = (origin: string) => join(folder, 'signed', `${encodeURIComponent(origin)}.json`)
  const last = (origin: string) => stateIn(statePath(origin))
  // Earlier releases chose the name of this folder.
  const epochPath = (org_id: string) => join(folder, 'epochs', org_id)
  return {
    public_key: publicKeyOf(signingKeysIn(folder).seed),
    knows: (public_key) => everySeed().some((own) => publicKeyOf(own) === public_key),
    verifierOf: (origin) => formatVerifier(signerOf(origin, 'note', signingKeysIn(folder).seed).verifier),
    everyVerifierOf: (origin) => everySeed().map((own) => formatVerifier(signerOf(origin, 'note', own).verifier)),
    keysOf: (log_host, org_id) => {
      const epochs = Array.from({ length: epochIn(epochPath(org_id)) }, (_, at) => at + 1).reverse()
      const periods = keyPeriods(signingKeysIn(folder))
      return epochs.flatMap((epoch) => periods.map((one) => logKey(originOf(log_host, org_id, epoch), one)))
    },
    last,
    epochOf: (org_id) => epochIn(epochPath(org_id)),
    beginEpoch: (org_id, epoch, read) => {
      // The state is written first: without the second file the epoch is not signed yet.
      replaceFile(statePath(read.origin), JSON.stringify(read))
      replaceFile(epochPath(org_id), `${epoch}\n`)
    },
    sign: (checkpoint, proof) => {
      const { origin, size, root } = checkpoint
      const before = last(origin)
      if (before !== null) assertContinues(before, checkpoint, proof)
      const state = stateAfter(before, { origin, size, root: hexOf(root) })
      replaceFile(statePath(origin), JSON.stringify(state))
      return signed(origin, formatCheckpoint(checkpoint))
    },
    signManifest: (origin, sha256) => {
      const keys = signers(origin).map(({ verifier }) => formatVerifier(verifier))
      return { note: signed(origin, manifestStatement(origin, sha256)), keys }
    },
  }
}

function assertContinues(before: SignedState, { size, root }: Checkpoint, proof: readonly Hash[]): void {
  if (size < before.size) throw new ForkRejected(`the log is shorter than the ${before.size} signed entries`)
  if (!verifyConsistency(before.size, size, proof, Buffer.from(before.root, 'hex'), root))
    throw changedSince(before.size)
}

/** The error for a log whose first `size` entries are not the signed ones. */
export function changedSince(size: number): ForkRejected {
  return new ForkRejected(`the first ${size} entries are not the signed ones`)
}

function logKey(origin: string, { seed, from, until, stolen }: KeyPeriod): LogKey {
  const { verifier } = signerOf(origin, 'note', seed)
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  return {
    key: formatVerifier(verifier),
    fingerprint: fingerprintOf(verifier),
    from: time(from),
    until: time(until),
    stolen,
  }
}

function epochIn(path: string): number {
  const text = readIfThere(path)
  if (text === null) return 1
  if (/^[1-9]\d{0,8}\n$/.test(text)) return Number(text)
  throw new PlatformError(
    'CONFLICT',
    `\`${path}\` is damaged: it must hold the epoch of the log, such as \`1\`; restore it`,
  )
}
