// The keys in the signer's folder: the one that signs, and those it has taken over from, which sign along for a while so that
// whoever trusts them has time to write down the new one.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile, signerOf } from '@svc/engine'
import { PlatformError } from '../errors.js'

export interface RetiringKey {
  /** Hex, of the 32 bytes of an Ed25519 seed. */
  readonly seed: string
  /** ms since 1970. */
  readonly until: number
}

export interface SigningKeys {
  readonly seed: Buffer
  /** The latest first. */
  readonly retiring: readonly RetiringKey[]
}

/** Reads the keys, or makes the first. Throws CONFLICT when what is there cannot be understood. */
export function signingKeysIn(folder: string): SigningKeys {
  const seed = seedIn(keyPath(folder))
  const retiring = new Map(retiringIn(retiringPath(folder)).map((key) => [key.seed, key]))
  retiring.delete(seed.toString('hex'))
  return { seed, retiring: [...retiring.values()] }
}

/** Takes a new key; the one before signs along until then (ms since 1970). */
export function rotateKeys(folder: string, until: number): SigningKeys {
  const { seed, retiring } = signingKeysIn(folder)
  // The old key first: a key that is lost signs never again. One that is both, after a crash between the two, signs once.
  replaceFile(retiringPath(folder), JSON.stringify([{ seed: seed.toString('hex'), until }, ...retiring]))
  replaceFile(keyPath(folder), `${randomBytes(32).toString('hex')}\n`)
  return signingKeysIn(folder)
}

/** Hex. */
export function publicKeyOf(seed: Uint8Array): string {
  return Buffer.from(signerOf('svc', 'note', seed).verifier.key).toString('hex')
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
  throw new PlatformError('CONFLICT', `\`${path}\` is no signing key: put the key of this log back`)
}

function retiringIn(path: string): RetiringKey[] {
  const text = readIfThere(path)
  if (text === null) return []
  try {
    const keys = JSON.parse(text) as RetiringKey[]
    if (keys.every(({ seed, until }) => /^[0-9a-f]{64}$/.test(seed) && Number.isSafeInteger(until))) return keys
  } catch {
    // Answered below, like a file of another shape.
  }
  throw new PlatformError('CONFLICT', `\`${path}\` is damaged: it holds the keys that sign along`)
}
