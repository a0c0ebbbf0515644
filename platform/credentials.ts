// What opens a local install: made at the first start, kept beside the data for its owner's eyes only, so that the
// commands printed at a later start work as well.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import type { Config } from './config.js'
import { PlatformError } from './errors.js'

export interface Credentials {
  readonly api_key: string
  readonly operator_token: string
}

export function credentialsPath(config: Config): string {
  return join(config.data_dir, 'credentials.json')
}

/** Reads the credentials of this install, or makes them. Throws when the file is there and cannot be understood. */
export function localCredentials(config: Config): Credentials {
  const path = credentialsPath(config)
  const known = read(path)
  const credentials = known ?? {
    api_key: newApiKey(),
    operator_token: `SvcLocal-${randomBytes(32).toString('base64url')}`,
  }
  if (known === null) replaceFile(path, `${JSON.stringify(credentials, null, 2)}\n`)
  return config.operator_token === null ? credentials : { ...credentials, operator_token: config.operator_token }
}

/** `SvcKey-` and 43 url-safe characters: 256 random bits. */
export function newApiKey(): string {
  return `SvcKey-${randomBytes(32).toString('base64url')}`
}

function read(path: string): Credentials | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const { api_key, operator_token } = JSON.parse(text) as Partial<Credentials>
    if (typeof api_key === 'string' && typeof operator_token === 'string') return { api_key, operator_token }
  } catch {
    // Answered below, like a file of another shape.
  }
  throw new PlatformError(
    'CONFLICT',
    `\`${path}\` is damaged: move it away and start again to have new credentials made`,
  )
}
