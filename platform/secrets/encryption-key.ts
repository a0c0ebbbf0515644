// The encryption keys: configured, or created once by an install with an embedded database.
import { randomBytes } from 'node:crypto'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'
import { howToCreate, keyFilePath, keyOf, malformedFile } from './key-file.js'

/**
 * Keys of 32 bytes: the first one seals secrets, all of them open secrets. Throws ENCRYPTION_KEY_INVALID for a malformed key, and
 * for a missing key with a database server, whose other processes would not have a key that this one creates.
 */
export function encryptionKeys(config: Config): Buffer[] {
  const { encryption_key, database_url } = config
  if (encryption_key !== null)
    return encryption_key
      .trim()
      .split(/[\s,]+/)
      .map(readKey)
  if (database_url !== null) throw keyNeeded()
  const path = keyFilePath(config)
  const text = readIfThere(path)
  if (text !== null) return [keyOf(text) ?? fail(malformedFile(path))]
  const made = randomBytes(32)
  replaceFile(path, `${made.toString('base64')}\n`)
  return [made]
}

function readKey(text: string): Buffer {
  return keyOf(text) ?? fail(keyInvalid())
}

function fail(error: PlatformError): never {
  throw error
}

/** ENCRYPTION_KEY_INVALID for missing keys with these ids. */
export function keyMissing(ids: readonly string[]): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY lacks a key that secrets in the database are sealed with (${ids.join(', ')}): add it after the new key, and see svc-platform rotate-secrets`,
  )
}

/** ENCRYPTION_KEY_INVALID for a process with other keys than its database; `used` and `own` are ids, which do not reveal the keys. */
export function keyDiffers(used: string, own: readonly string[]): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY has the key \`${own.join(' ')}\`, but this database uses the key \`${used}\`: set the same SVC_ENCRYPTION_KEY for every process; to change the key, set SVC_ENCRYPTION_KEY="NEW OLD" and run \`svc-platform rotate-secrets\``,
  )
}

function keyNeeded(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY is missing: with SVC_DATABASE_URL every process needs the same key of 32 bytes; ${howToCreate}`,
  )
}

/** ENCRYPTION_KEY_INVALID for a rotation without a second key. */
export function twoKeysNeeded(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY must hold the new key, a space and the old key, which an embedded database keeps in \`encryption-key\` of its data folder; ${howToCreate}`,
  )
}

export function keyInvalid(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY is missing or is not 32 bytes in base64 or hex: ${howToCreate}`,
  )
}
