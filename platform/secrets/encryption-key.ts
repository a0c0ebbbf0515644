// The keys that everything secret here rests on: given from outside, or made once for an install with its own database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

/**
 * Keys of 32 bytes: the first one keeps secrets, the others still open what they kept. Empty where none was given and none may
 * be made, because other processes would not know it. Throws ENCRYPTION_KEY_INVALID.
 */
export function encryptionKeys({ encryption_key, database_url, data_dir }: Config): Buffer[] {
  if (encryption_key !== null)
    return encryption_key
      .trim()
      .split(/[\s,]+/)
      .map(readKey)
  if (database_url !== null) return []
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

export function keyInvalid(): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    'SVC_ENCRYPTION_KEY is missing or is not 32 bytes in base64 or hex: make one with `openssl rand -base64 32`',
  )
}
