// Pages of lists, and the cursors between them.
import { type Resources, type Transaction, withSnapshot } from '../db/db.js'
import type { Listed, Page } from '../db/list.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import type { Query } from './query.js'
import type { Call, Reply } from './route.js'

/** Handles the request of a list: replies with the page of the rows that the query selects, under `name`. */
export function listHandler<T>(
  name: string,
  read: (scope: Scope, tx: Transaction, query: Query, page: Page) => Promise<Listed<T>>,
  keyOf: (row: T, query: Query) => string | number,
  pageIn: (query: Query) => Page = pageOf,
) {
  return async ({ scope, query }: Pick<Call, 'scope' | 'query'>, { db }: Pick<Resources, 'db'>): Promise<Reply> => {
    const page = pageIn(query)
    const listed = await withSnapshot(db, scope, (tx) => read(scope, tx, query, page))
    return listReply(name, listed, page, (row) => keyOf(row, query))
  }
}

/** True for a parameter that chooses a page of a list, or members of its rows, and no rows. */
export function isPaging(name: string): boolean {
  return ['limit', 'cursor', 'skip', 'state_now'].includes(name)
}

/** The page that a query asks for. Throws INVALID for an invalid cursor. */
export function pageOf(query: Query, limit = 50): Page {
  return {
    limit: Number(query.limit ?? limit),
    after: query.cursor === undefined ? null : decode(query.cursor),
  }
}

/** The page of a list in the order of log indexes. Throws INVALID for an invalid cursor. */
export function pageByIndex(query: Query, limit = 50): Page {
  const page = pageOf(query, limit)
  return { limit: page.limit, after: numberAfter(page) }
}

/** The reply of a list: the rows under `name`, the total, and the cursor of the next page. */
export function listReply<T>(
  name: string,
  { rows, total, neighbours }: Listed<T>,
  { limit }: Page,
  keyOf: (row: T) => string | number,
) {
  return { status: 200, body: { [name]: rows, total, next_cursor: nextCursor(rows, limit, keyOf), ...neighbours } }
}

/** A cursor past the last row; null on the last page. */
export function nextCursor<T>(rows: readonly T[], limit: number, keyOf: (row: T) => string | number): string | null {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? null : cursorAfter(keyOf(last))
}

/** The cursor of the page after the row with this key. */
export function cursorAfter(key: string | number): string {
  return Buffer.from(String(key)).toString('base64url')
}

function decode(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (/^[A-Za-z0-9_-]+$/.test(text)) return text
  throw cursorInvalid()
}

/** The cursor of a list whose key is a whole number. Throws INVALID. */
export function numberAfter({ after }: Page): number | null {
  if (after === null) return null
  if (/^\d{1,15}$/.test(String(after))) return Number(after)
  throw cursorInvalid()
}

export function cursorInvalid(): PlatformError {
  const message = 'use `next_cursor` of a previous page'
  return new PlatformError('INVALID', `\`cursor\` is invalid: ${message}`, { errors: [{ path: 'cursor', message }] })
}
