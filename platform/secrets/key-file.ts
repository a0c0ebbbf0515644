// The file with the encryption key of an install with an embedded database. Only the running process keeps the key besides, so
// that a secret which is sealed while the file is gone could not be opened after the next start.
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

export interface KeyFile {
  /** Throws ENCRYPTION_KEY_INVALID when the file no longer holds the key. */
  readonly assertKept: () => void
  /** Writes the key of this process to the file; returns its path. */
  readonly write: () => string
}

export const howToCreate =
  "create one with `openssl rand -base64 32` or `node -p \"require('node:crypto').randomBytes(32).toString('base64')\"`"

/** Null for an install whose key is configured. `command`: `svc-platform` as a person types it. */
export function keyFileOf(config: Config, keys: readonly Buffer[], command: string): KeyFile | null {
  const [key] = keys
  if (!isKeyFromFile(config) || key === undefined) return null
  const path = keyFilePath(config)
  return {
    assertKept: () => {
      if (readKeyFile(path)?.equals(key) !== true) throw notKept(path, command)
    },
    write: () => {
      replaceFile(path, `${key.toString('base64')}\n`)
      return path
    },
  }
}

export function isKeyFromFile({ encryption_key, database_url }: Config): boolean {
  return encryption_key === null && database_url === null
}

export function keyFilePath({ data_dir }: Pick<Config, 'data_dir'>): string {
  return join(data_dir, 'encryption-key')
}

/** The 32 bytes of a key in base64 or hex; null for another text. */
export function keyOf(text: string): Buffer | null {
  const own = text.trim()
  const bytes = /^[0-9a-fA-F]{64}$/.test(own) ? Buffer.from(own, 'hex') : Buffer.from(own, 'base64')
  return bytes.length === 32 ? bytes : null
}

/** Null for a file that is missing, malformed or unreadable. */
function readKeyFile(path: string): Buffer | null {
  try {
    return keyOf(readIfThere(path) ?? '')
  } catch {
    return null
  }
}

function notKept(path: string, command: string): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `the file \`${path}\` no longer holds the encryption key, so that a secret stored now could not be read after the next start: before this platform stops, write the key back with \`${command} admin write-key-file\`, or restore the file from a backup; then send the request again`,
  )
}

/** ENCRYPTION_KEY_INVALID for a file that holds no key at the start. */
export function malformedFile(path: string): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `the file \`${path}\` does not hold a key of 32 bytes in base64 or hex: restore it from a backup; if the key is lost, remove the file, start again, and enter the tokens of repositories again`,
  )
}

/** Warns about tokens that cannot be opened, while everything else works. */
export function otherTokens(path: string): string {
  return `the file \`${path}\` holds another key than the one that secrets of repositories are sealed with: restore it from a backup and start again, or enter their tokens again with PATCH /api/v1/repos/{id} and make their webhook secrets again with POST /api/v1/repos/{id}/webhook-secret`
}

/** ENCRYPTION_KEY_INVALID for a file with another key than the one that secrets of the log are sealed with. */
export function otherFile(path: string, ids: readonly string[]): PlatformError {
  return new PlatformError(
    'ENCRYPTION_KEY_INVALID',
    `the file \`${path}\` lacks a key that secrets in the database are sealed with (${ids.join(', ')}): restore it from a backup`,
  )
}
