// The keys that everything secret here rests on: given from outside, or made once for an install with its own database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

/**
 * Keys of 32 bytes: the first one seals secrets, the others still open what they sealed. Throws ENCRYPTION_KEY_INVALID for a
 * malformed key, and where a server is used without one: a key made here would be unknown to its other processes.
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

/** Base64 or hex of 32 bytes. */
function readKey(text: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  if (bytes.length === 32) return bytes
  throw keyInvalid()
}

/** The keys of these ids are asked for. */
export function keyMissing(ids: readonly string[]): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `secrets in the database are sealed with a key (${ids.join(', ')}) that SVC_ENCRYPTION_KEY does not hold: put it behind the new one, and see svc-platform rotate-secrets`,
  )
}

/** Processes of one database must use the same key; `used` and `own` are ids of keys, which tell nothing of them. */
export function keyDiffers(used: string, own: readonly string[]): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY holds the key \`${own.join(' ')}\`, but this database is used with the key \`${used}\`: set the same SVC_ENCRYPTION_KEY for every process; to change the key, set SVC_ENCRYPTION_KEY="NEW OLD" and run \`svc-platform rotate-secrets\``,
  )
}

const howToMake =
  "make one with `openssl rand -base64 32` or `node -p \"require('node:crypto').randomBytes(32).toString('base64')\"`"

function keyNeeded(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY is missing: with SVC_DATABASE_URL every process needs the same key of 32 bytes; ${howToMake}`,
  )
}

export function keyInvalid(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `SVC_ENCRYPTION_KEY is missing or is not 32 bytes in base64 or hex: ${howToMake}`,
  )
}
