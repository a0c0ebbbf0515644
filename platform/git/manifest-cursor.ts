// Cursors of lists of manifests, whose key is a repository and a path.
import type { ListedManifest } from '@svc/schemas'
import type { Page } from '../db/list.js'
import { cursorInvalid, nextCursor } from '../http/paging.js'

interface Place {
  readonly repo_id: number
  readonly path: string
}

/** The place of the last manifest of the previous page. Throws INVALID. */
export function placeAfter(after: Page['after']): Place | null {
  if (after === null) return null
  const [, id = '', path = ''] = /^(\d{1,15})-([A-Za-z0-9_-]*)$/.exec(String(after)) ?? []
  if (id === '') throw cursorInvalid()
  return { repo_id: Number(id), path: Buffer.from(path, 'base64url').toString() }
}

/** The cursor past the last row; null on the last page. */
export function cursorOf(rows: readonly ListedManifest[], limit: number): string | null {
  return nextCursor(rows, limit, ({ repo_id, path }) => `${repo_id}-${Buffer.from(path).toString('base64url')}`)
}
