// The keys in the signer's folder: the one that signs, and those it has taken over from, which sign along for a while so that
// whoever trusts them has time to write down the new one.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import { signerOf } from '@svc/proof'
import { PlatformError } from '../../errors.js'

export interface RetiringKey {
  /** Hex, of the 32 bytes of an Ed25519 seed. */
  readonly seed: string
  /** When it ceases to sign along, ms since 1970. */
  readonly until: number
  /** When another took over from it, ms since 1970; not known of one that an earlier release rotated. */
  readonly replaced?: number
  /** Whether another person could have it. */
  readonly stolen?: boolean
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

/** Takes a new key at `now`; the one before signs along until then (ms since 1970), and not at all when it was stolen. */
export function rotateKeys(folder: string, now: number, until: number): SigningKeys {
  const { seed, retiring } = signingKeysIn(folder)
  // The old key first: a key that is lost signs never again. One that is both, after a crash between the two, signs once.
  const before: RetiringKey = { seed: seed.toString('hex'), until, replaced: now, stolen: until <= now }
  replaceFile(retiringPath(folder), JSON.stringify([before, ...retiring]))
  replaceFile(keyPath(folder), `${randomBytes(32).toString('hex')}\n`)
  return signingKeysIn(folder)
}

/** A key and when it signs, ms since 1970; null where that is open or not known. */
export interface KeyPeriod {
  readonly seed: Uint8Array
  readonly from: number | null
  readonly until: number | null
  readonly stolen: boolean
}

/** Every key that signs or has signed, the latest first. */
export function keyPeriods({ seed, retiring }: SigningKeys): KeyPeriod[] {
  const began = (at: number) => retiring[at]?.replaced ?? null
  const old = retiring.map(({ seed: own, until, stolen = false }, at): KeyPeriod => {
    return { seed: Buffer.from(own, 'hex'), from: began(at + 1), until, stolen }
  })
  return [{ seed, from: began(0), until: null, stolen: false }, ...old]
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
