// API keys (docs/design/platform.md §5). They belong to the workspace, not to the person who created them. Their secret is shown once.

import { type ApiKey, type ApiKeyRequest, isoTime, type MadeApiKey, parseTimestamp } from '@svc/schemas'
import { withTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { invalid, invalidTransition, PlatformError } from '../../errors.js'
import { admins } from '../../http/principal.js'
import { secretHash } from '../../secrets/secret-hash.js'
import { newApiKey } from '../credentials.js'
import type { AccessParts } from '../parts.js'
import { insertKey, readKey, revokeKey, rollKey } from '../store/api-keys.js'
import { assertStillAllowed, noteChange } from './members.js'

/** Creates a key. Rejects with INVALID for an expiry in the past. */
export async function createApiKey(
  { db, clock }: AccessParts,
  scope: Scope,
  request: ApiKeyRequest,
): Promise<MadeApiKey> {
  const now = clock()
  const { name, scopes = ['ingest', 'read'], expires_at = null } = request
  const until = expires_at === null ? null : parseTimestamp(expires_at)
  if (until !== null && until <= now) throw invalid([{ path: 'expires_at', message: 'must be in the future' }])
  const key = newApiKey()
  const api_key: ApiKey = {
    id: newId('key', now),
    name,
    scopes,
    created_at: isoTime(now),
    expires_at: until === null ? null : isoTime(until),
    revoked_at: null,
    last_used_at: null,
  }
  await withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, admins)
    await insertKey(scope, tx, api_key, secretHash(key))
    await noteChange(scope, tx, now, 'api_key.created', api_key.id, { name, scopes, expires_at: api_key.expires_at })
  })
  return { api_key, key }
}

/** Revokes a key: in this process at once, in others within a second. Rejects with NOT_FOUND or INVALID_TRANSITION. */
export async function revokeApiKey({ db, clock, notices }: AccessParts, scope: Scope, id: string): Promise<ApiKey> {
  const now = clock()
  const changed = { kind: 'api_key_changed', key_id: id } as const
  const ended = await withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, admins)
    const known = await readKey(scope, tx, id)
    if (known === null) throw new PlatformError('NOT_FOUND', 'no such key')
    if (!(await revokeKey(scope, tx, id, isoTime(now))))
      throw invalidTransition('revoke', 'an API key', 'revoked', ['active', 'expired'])
    await noteChange(scope, tx, now, 'api_key.revoked', id, {})
    await notices.announce(tx, changed)
    return (await readKey(scope, tx, id)) ?? known
  })
  notices.deliver(changed)
  return ended
}

/** Replaces the secret of a key; the old secret is no longer accepted, and agents keep their ids. */
export async function rollApiKey({ db, clock, notices }: AccessParts, scope: Scope, id: string): Promise<MadeApiKey> {
  const now = clock()
  const key = newApiKey()
  const changed = { kind: 'api_key_changed', key_id: id } as const
  const made = await withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, admins)
    const api_key = await readKey(scope, tx, id)
    if (api_key === null) throw new PlatformError('NOT_FOUND', 'no such key')
    const isExpired = api_key.expires_at !== null && Date.parse(api_key.expires_at) <= now
    if (isExpired || !(await rollKey(scope, tx, id, secretHash(key))))
      throw invalidTransition('roll', 'an API key', api_key.revoked_at === null && isExpired ? 'expired' : 'revoked', [
        'active',
      ])
    await noteChange(scope, tx, now, 'api_key.rolled', id, {})
    await notices.announce(tx, changed)
    return { api_key, key }
  })
  notices.deliver(changed)
  return made
}
