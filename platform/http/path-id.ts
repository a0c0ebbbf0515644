// Ids in the paths of requests.
import type { Request } from 'express'
import { PlatformError } from '../errors.js'

/** The id of a repository, an assignment or a policy: a whole number of a workspace. Null for a text that no id has. */
export function idIn(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}

/** No id contains control characters, and PostgreSQL rejects a query for NUL. */
export function rejectUnprintable({ params }: Request): void {
  const names = Object.values(params).flat()
  if (names.some((name) => /\p{Cc}/u.test(name ?? '')))
    throw new PlatformError('NOT_FOUND', 'the path contains control characters')
}
