// The encryption keys: configured, or created once by an install with an embedded database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

/**
 * Keys of 32 bytes: the first one seals secrets, all of them open secrets. Throws ENCRYPTION_KEY_INVALID for a malformed key, and
 * for a missing key with a database server, whose other processes would not have a key that this one creates.
 */
export function encryptionKeys({ encryption_key, database_url, data_dir }: Config): Buffer[] {
  if (encryption_key !== null)
    return encryption_key
      .trim()
      .split(/[\s,]+/)
      .map(readKey)
  if (database_url !== null) throw keyNeeded()
  const path = join(data_dir, 'encryption-key')
  const text = readIfThere(path)
  if (text !== null) return [readKey(text.trim())]
  const made = randomBytes(32)
  replaceFile(path, `${made.toString('base64')}\n`)
  return [made]
}

/** Parses base64 or hex of 32 bytes. */
function readKey(text: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  if (bytes.length === 32) return bytes
  throw keyInvalid()
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

const howToCreate =
  "create one with `openssl rand -base64 32` or `node -p \"require('node:crypto').randomBytes(32).toString('base64')\"`"

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
