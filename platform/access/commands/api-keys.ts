// API keys (docs/design/platform.md §5): they belong to the workspace, not to whoever made them, and their secret is shown once.

import { type ApiKey, type ApiKeyRequest, type MadeApiKey, parseTimestamp } from '@svc/schemas'
import { type Transaction, withTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import { admins } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { newApiKey } from '../credentials.js'
import type { AccessParts } from '../parts.js'
import { insertKey, readKey, revokeKey, rollKey } from '../store/api-keys.js'
import { keyHash } from '../store/organizations.js'
import { stillMay } from './members.js'

/** Makes a key. Rejects with INVALID for one that would be over already. */
export async function makeKey({ db, clock }: AccessParts, scope: Scope, request: ApiKeyRequest): Promise<MadeApiKey> {
  const now = clock()
  const { name, scopes = ['ingest', 'read'], expires_at = null } = request
  const until = expires_at === null ? null : parseTimestamp(expires_at)
  if (until !== null && until <= now) throw invalid([{ path: 'expires_at', message: 'this is in the past' }])
  const key = newApiKey()
  const api_key: ApiKey = {
    ...{ id: newId('key', now), name, scopes, created_at: new Date(now).toISOString() },
    ...{ expires_at: until === null ? null : new Date(until).toISOString() },
    ...{ revoked_at: null, last_used_at: null },
  }
  await withTransaction(db, scope, async (tx) => {
    await stillMay(scope, tx, admins)
    await insertKey(scope, tx, api_key, keyHash(key))
    await note(scope, tx, now, 'api_key.created', api_key.id, { name, scopes, expires_at: api_key.expires_at })
  })
  return { api_key, key }
}

/** Ends a key: here at once, in other processes within a second. Rejects with NOT_FOUND, or CONFLICT when it is revoked already. */
export async function endKey({ db, clock, notices }: AccessParts, scope: Scope, id: string): Promise<ApiKey> {
  const now = clock()
  const changed = { kind: 'api_key_changed', key_id: id } as const
  const ended = await withTransaction(db, scope, async (tx) => {
    await stillMay(scope, tx, admins)
    const known = await readKey(scope, tx, id)
    if (known === null) throw new PlatformError('NOT_FOUND', 'no such key')
    if (!(await revokeKey(scope, tx, id, new Date(now).toISOString())))
      throw new PlatformError('CONFLICT', 'the key is revoked already')
    await note(scope, tx, now, 'api_key.revoked', id, {})
    await notices.announce(tx, changed)
    return (await readKey(scope, tx, id)) ?? known
  })
  notices.deliver(changed)
  return ended
}

/** Gives a key another secret; the old one is good for nothing any more, and agents keep their ids. */
export async function renewKey({ db, clock, notices }: AccessParts, scope: Scope, id: string): Promise<MadeApiKey> {
  const now = clock()
  const key = newApiKey()
  const changed = { kind: 'api_key_changed', key_id: id } as const
  const made = await withTransaction(db, scope, async (tx) => {
    await stillMay(scope, tx, admins)
    const api_key = await readKey(scope, tx, id)
    if (api_key === null) throw new PlatformError('NOT_FOUND', 'no such key')
    if (api_key.expires_at !== null && Date.parse(api_key.expires_at) <= now)
      throw new PlatformError('CONFLICT', 'the key has expired: create another')
    if (!(await rollKey(scope, tx, id, keyHash(key)))) throw new PlatformError('CONFLICT', 'the key is revoked')
    await note(scope, tx, now, 'api_key.rolled', id, {})
    await notices.announce(tx, changed)
    return { api_key, key }
  })
  notices.deliver(changed)
  return made
}

async function note(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  subject_id: string,
  data: Record<string, unknown>,
) {
  await recordEvents(scope, tx, now, [{ kind, subject_kind: 'api_key', subject_id, data }])
}
