// A cache of API keys for a few seconds: a busy agent sends thousands of requests with one key.

import { withUnscopedTransaction } from '../db/db.js'
import type { AccessParts } from './parts.js'
import { findKeyUnscoped, type KeyRow, touchKeyUnscoped } from './store/organizations.js'

type FindKey = (hash: Buffer) => Promise<KeyRow | null>

/** The time in which a key is cached while this process receives notices of changed keys. */
const cacheTimeoutMs = 5000
/** The time in which a key is cached while the connection for notices is lost. */
const disconnectedCacheTimeoutMs = 1000
const maxKeys = 10_000
/** The time between two updates of the last use of a key. */
const touchIntervalMs = 60_000

/** Finds a key by its SHA-256, in the cache or in the database. */
export function createKnownKeys({ db, clock, notices }: Pick<AccessParts, 'db' | 'clock' | 'notices'>): FindKey {
  const keys = new Map<string, { row: KeyRow; until: number }>()
  let changes = 0
  notices.subscribe((notice) => {
    changes += 1
    for (const [id, { row }] of keys) if (notice === null || row.key_id === notice.key_id) keys.delete(id)
  })
  return async (hash) => {
    const id = hash.toString('base64')
    const known = keys.get(id)
    if (known !== undefined && known.until > clock()) return known.row
    const before = changes
    const row = await withUnscopedTransaction(db, async (tx) => {
      const found = await findKeyUnscoped(tx, hash)
      const touched = Date.parse(found?.last_used_at ?? '')
      if (found !== null && !(touched > clock() - touchIntervalMs)) await touchKeyUnscoped(tx, found, clock())
      return found
    })
    keys.delete(id)
    if (keys.size >= maxKeys) keys.clear()
    // A row that was read while keys changed may be outdated: it is used for this request only.
    const until = clock() + (notices.isConnected() ? cacheTimeoutMs : disconnectedCacheTimeoutMs)
    if (row !== null && before === changes) keys.set(id, { row, until })
    return row
  }
}
