// The credentials of a local install. The first start creates them and stores them in the data directory, so that the commands
// printed at later starts work as well.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

export interface Credentials {
  /** The first key of the database; null where another process created it. */
  readonly api_key: string | null
  readonly operator_token: string
}

export function credentialsPath(config: Config): string {
  return join(config.data_dir, 'credentials.json')
}

/** Stores the credentials of this install, readable by its user only. */
export function storeCredentials(config: Config, credentials: Credentials): void {
  replaceFile(credentialsPath(config), `${JSON.stringify(credentials, null, 2)}\n`)
}

export function newOperatorToken(): string {
  return `SvcLocal-${randomBytes(32).toString('base64url')}`
}

/** `SvcKey-` and 43 url-safe characters: 256 random bits. */
export function newApiKey(): string {
  return `SvcKey-${randomBytes(32).toString('base64url')}`
}

/** The credentials of this install, null before its first start. Throws CONFLICT for a damaged file. */
export function readCredentials(config: Config): Credentials | null {
  const path = credentialsPath(config)
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const { api_key = null, operator_token } = parseJson(text) as Partial<Credentials>
    if ((api_key === null || typeof api_key === 'string') && typeof operator_token === 'string')
      return { api_key, operator_token }
  } catch {
    // Reported below, like a file of another shape.
  }
  throw new PlatformError('CONFLICT', `\`${path}\` is damaged: move it away and start again to create new credentials`)
}
