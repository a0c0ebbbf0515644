// The key that signs checkpoints, and what it has signed. Both live outside the database: whoever can rewrite the one
// must not be able to rewrite the other (docs/design/log.md §5).
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import {
  type Checkpoint,
  fingerprintOf,
  formatCheckpoint,
  formatNote,
  formatVerifier,
  type Hash,
  manifestStatement,
  signerOf,
  signText,
  verifyConsistency,
} from '@svc/proof'
import type { LogKey } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import { type SignedState, stateAfter, stateIn } from './signed-state.js'
import { type KeyPeriod, keyPeriods, publicKeyOf, signingKeysIn } from './signing-keys.js'

export interface LogSigner {
  /** Hex, of the key that signs. */
  readonly public_key: string
  /** Whether this key signs, or did before it was rotated; hex. */
  readonly knows: (public_key: string) => boolean
  /** The key as those write it down who trust it for the log. */
  readonly verifierOf: (origin: string) => string
  /** Every key that is or was the log's, as they are written down: what was signed before stays signed. */
  readonly everyVerifierOf: (origin: string) => readonly string[]
  /** The same with when each signs, and under every name that the log of an organization has had. */
  readonly keysOf: (log_host: string, org_id: string) => readonly LogKey[]
  readonly last: (origin: string) => SignedState | null
  /** Which incarnation of an organization's log may be signed for: the first, until an operator has begun another. */
  readonly incarnationOf: (org_id: string) => number
  /** Begins another one, which must continue what was read for it; only a person may. */
  readonly begin: (org_id: string, incarnation: number, read: SignedState) => void
  /**
   * Signs, and remembers it before anybody sees it. Throws ForkRefused unless the proof shows that what was signed last is
   * how this tree began; the first checkpoint of a log needs none.
   */
  readonly sign: (checkpoint: Checkpoint, proof: readonly Hash[]) => string
  /** Signs for a bundle by the SHA-256 of its manifest, hex; `keys` are those that did. */
  readonly signManifest: (origin: string, sha256: string) => { readonly note: string; readonly keys: readonly string[] }
}

/**
 * The tree is not a continuation of the one that was signed. The message stays the same while the log grows, by the event
 * that tells of it among others: it is told once.
 */
export class ForkRefused extends Error {}

/** Opens the keys in the folder, or makes one; `clock` is ms since 1970. Throws CONFLICT when what is there cannot be understood. */
export function openSigner(folder: string, clock: () => number): LogSigner {
  // Read anew each time, so that a key that is rotated signs from the next checkpoint on, in every process.
  const signers = (origin: string) => {
    const { seed, retiring } = signingKeysIn(folder)
    const along = retiring.filter(({ until }) => until > clock()).map((key) => Buffer.from(key.seed, 'hex'))
    return [seed, ...along].map((own) => signerOf(origin, 'note', own))
  }
  /** Of every key that is or was the log's. */
  const everySeed = () => {
    const { seed, retiring } = signingKeysIn(folder)
    return [seed, ...retiring.map((key) => Buffer.from(key.seed, 'hex'))]
  }
  const signed = (origin: string, text: string) =>
    formatNote({ text, signatures: signers(origin).map((signer) => signText(text, signer)) })
  const statePath = (origin: string) => join(folder, 'signed', `${encodeURIComponent(origin)}.json`)
  const last = (origin: string) => stateIn(statePath(origin))
  const incarnationPath = (org_id: string) => join(folder, 'incarnations', org_id)
  return {
    public_key: publicKeyOf(signingKeysIn(folder).seed),
    knows: (public_key) => everySeed().some((own) => publicKeyOf(own) === public_key),
    verifierOf: (origin) => formatVerifier(signerOf(origin, 'note', signingKeysIn(folder).seed).verifier),
    everyVerifierOf: (origin) => everySeed().map((own) => formatVerifier(signerOf(origin, 'note', own).verifier)),
    keysOf: (log_host, org_id) => {
      const epochs = Array.from({ length: incarnationIn(incarnationPath(org_id)) }, (_, at) => at + 1).reverse()
      const periods = keyPeriods(signingKeysIn(folder))
      return epochs.flatMap((epoch) => periods.map((one) => logKey(`${log_host}/org/${org_id}/${epoch}`, one)))
    },
    last,
    incarnationOf: (org_id) => incarnationIn(incarnationPath(org_id)),
    begin: (org_id, incarnation, read) => {
      // What binds the new log first: without the other file it is not signed for yet.
      replaceFile(statePath(read.origin), JSON.stringify(read))
      replaceFile(incarnationPath(org_id), `${incarnation}\n`)
    },
    sign: (checkpoint, proof) => {
      const { origin, size, root } = checkpoint
      const before = last(origin)
      if (before !== null) refuseFork(before, checkpoint, proof)
      const state = stateAfter(before, { origin, size, root: Buffer.from(root).toString('hex') })
      replaceFile(statePath(origin), JSON.stringify(state))
      return signed(origin, formatCheckpoint(checkpoint))
    },
    signManifest: (origin, sha256) => {
      const keys = signers(origin).map(({ verifier }) => formatVerifier(verifier))
      return { note: signed(origin, manifestStatement(origin, sha256)), keys }
    },
  }
}

function refuseFork(before: SignedState, { size, root }: Checkpoint, proof: readonly Hash[]): void {
  if (size < before.size)
    throw new ForkRefused(`the log is shorter than the ${before.size} entries that were signed for`)
  if (!verifyConsistency(before.size, size, proof, Buffer.from(before.root, 'hex'), root))
    throw notAsSigned(before.size)
}

export function notAsSigned(size: number): ForkRefused {
  return new ForkRefused(`the first ${size} entries are not those that were signed for`)
}

function logKey(origin: string, { seed, from, until, stolen }: KeyPeriod): LogKey {
  const { verifier } = signerOf(origin, 'note', seed)
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return {
    ...{ key: formatVerifier(verifier), fingerprint: fingerprintOf(verifier) },
    ...{ from: time(from), until: time(until), stolen },
  }
}

function incarnationIn(path: string): number {
  const text = readIfThere(path)
  if (text === null) return 1
  if (/^[1-9]\d{0,8}\n$/.test(text)) return Number(text)
  throw new PlatformError('CONFLICT', `\`${path}\` is damaged: it says which incarnation of the log may be signed for`)
}
