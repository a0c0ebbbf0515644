// API keys that were looked up are believed for some seconds: a busy agent sends thousands of requests with one key.

import { withUnscopedTransaction } from '../db/db.js'
import type { AccessParts } from './parts.js'
import { findKeyUnscoped, type KeyRow, touchKeyUnscoped } from './store/organizations.js'

export type FindKey = (hash: Buffer) => Promise<KeyRow | null>

/** How long a key that was found is believed while changes of keys are heard of, ms. */
const believed = 5000
/** The same while the connection that listens for changes is lost, ms. */
const believedAlone = 1000
const maxKeys = 10_000
/** A key's last use is written down once in so long, ms. */
const touchedEvery = 60_000

/** Finds a key by its SHA-256: in memory, or in the database. */
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
      if (found !== null && !(touched > clock() - touchedEvery)) await touchKeyUnscoped(tx, found, clock())
      return found
    })
    keys.delete(id)
    if (keys.size >= maxKeys) keys.clear()
    // A row that was read while keys changed may be the old one: it answers this request only.
    const until = clock() + (notices.isConnected() ? believed : believedAlone)
    if (row !== null && before === changes) keys.set(id, { row, until })
    return row
  }
}
