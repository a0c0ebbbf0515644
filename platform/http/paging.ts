// Pages: what a cursor is, and what a list answers.

import type { Listed, Page } from '../db/list.js'
import { PlatformError } from '../errors.js'
import type { Query } from './query.js'

/** Which page a query asks for. Throws INVALID for a cursor that is none. */
export function pageOf(query: Query, fallback = 50): Page {
  return {
    limit: Number(query.limit ?? fallback),
    after: query.cursor === undefined ? null : decode(query.cursor),
  }
}

/** The same for a list that is in the order of log indexes. */
export function pageByIndex(query: Query, fallback = 50): Page {
  const page = pageOf(query, fallback)
  return { limit: page.limit, after: numberAfter(page) }
}

/** The list under its name, its total, and where the next page begins. */
export function listReply<T>(
  name: string,
  { rows, total }: Listed<T>,
  { limit }: Page,
  keyOf: (row: T) => string | number,
) {
  return { status: 200, body: { [name]: rows, total, next_cursor: nextCursor(rows, limit, keyOf) } }
}

/** A cursor past the last row; null when there can be no further page. */
export function nextCursor<T>(rows: readonly T[], limit: number, keyOf: (row: T) => string | number): string | null {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? null : Buffer.from(String(keyOf(last))).toString('base64url')
}

function decode(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (/^[A-Za-z0-9_-]+$/.test(text)) return text
  throw new PlatformError('INVALID', '`cursor` is invalid', {
    errors: [{ path: 'cursor', message: 'use `next_cursor` of a previous page' }],
  })
}

/** A cursor over whole numbers. */
export function numberAfter({ after }: Page): number | null {
  if (after === null) return null
  if (/^\d{1,15}$/.test(String(after))) return Number(after)
  throw new PlatformError('INVALID', '`cursor` is invalid', {
    errors: [{ path: 'cursor', message: 'use `next_cursor` of a previous page' }],
  })
}
