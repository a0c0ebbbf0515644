// The keys in the signer's folder: the signing key and its predecessors, which sign beside it for some days so that verifiers
// have time to add the new key to their trust policies.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import { hexOf, parseJson, signerOf } from '@svc/proof'
import { PlatformError } from '../../errors.js'

interface RetiringKey {
  /** The 32 bytes of an Ed25519 seed; hex. */
  readonly seed: string
  /** When it ceases to sign, ms since 1970. */
  readonly until: number
  /** When it was replaced, ms since 1970 */
  readonly replaced: number
  /** True if it may have been stolen. */
  readonly stolen?: boolean
}

interface SigningKeys {
  readonly seed: Buffer
  /** Latest first. */
  readonly retiring: readonly RetiringKey[]
}

/** Reads the keys, or creates the first. Throws CONFLICT when a file is damaged. */
export function signingKeysIn(folder: string): SigningKeys {
  const seed = seedIn(keyPath(folder))
  const retiring = new Map(retiringIn(retiringPath(folder)).map((key) => [key.seed, key]))
  retiring.delete(seed.toString('hex'))
  return { seed, retiring: [...retiring.values()] }
}

/** Creates a new key at `now`. The old key signs until `until` (both ms since 1970); if that is `now`, it was stolen. */
export function rotateKeys(folder: string, now: number, until: number): SigningKeys {
  const { seed, retiring } = signingKeysIn(folder)
  // The old key is written first: a lost key cannot sign again. After a crash in between, a key that is in both files signs once.
  const before: RetiringKey = { seed: seed.toString('hex'), until, replaced: now, stolen: until <= now }
  replaceFile(retiringPath(folder), JSON.stringify([before, ...retiring]))
  replaceFile(keyPath(folder), `${randomBytes(32).toString('hex')}\n`)
  return signingKeysIn(folder)
}

/** A key and its period, ms since 1970; null for a bound that is open or unknown. */
export interface KeyPeriod {
  readonly seed: Uint8Array
  readonly from: number | null
  readonly until: number | null
  readonly stolen: boolean
}

/** Every key that signs or has signed, latest first. */
export function keyPeriods({ seed, retiring }: SigningKeys): KeyPeriod[] {
  const began = (at: number) => retiring[at]?.replaced ?? null
  const old = retiring.map(({ seed: own, until, stolen = false }, at): KeyPeriod => {
    return { seed: Buffer.from(own, 'hex'), from: began(at + 1), until, stolen }
  })
  return [{ seed, from: began(0), until: null, stolen: false }, ...old]
}

/** The public key of a seed; hex. */
export function publicKeyOf(seed: Uint8Array): string {
  return hexOf(signerOf('svc', 'note', seed).verifier.key)
}

function keyPath(folder: string): string {
  return join(folder, 'signing-key')
}

function retiringPath(folder: string): string {
  return join(folder, 'retiring-keys.json')
}

function seedIn(path: string): Buffer {
  const text = readIfThere(path)
  if (text === null) {
    const seed = randomBytes(32)
    replaceFile(path, `${seed.toString('hex')}\n`)
    return seed
  }
  if (/^[0-9a-f]{64}\n?$/.test(text)) return Buffer.from(text.trim(), 'hex')
  throw new PlatformError('CONFLICT', `\`${path}\` is not a signing key: restore the key of this log`)
}

function retiringIn(path: string): RetiringKey[] {
  const text = readIfThere(path)
  if (text === null) return []
  try {
    const keys = parseJson(text) as RetiringKey[]
    if (keys.every(({ seed, until }) => /^[0-9a-f]{64}$/.test(seed) && Number.isSafeInteger(until))) return keys
  } catch {
    // Reported below, like a file of another shape.
  }
  throw new PlatformError('CONFLICT', `\`${path}\` is damaged: it must hold the earlier keys of this log; restore it`)
}
