// Who is calling: an API key, or an operator with the token this install printed.
import { timingSafeEqual } from 'node:crypto'
import { PlatformError } from '../errors.js'
import type { KeyIdentity } from '../ingest/batch.js'
import type { Platform } from '../platform.js'
import { withUnscopedTransaction } from '../store/db.js'
import { findKeyUnscoped, type KeyRow, keyHash } from '../store/organizations.js'
import { type Scope, scopeOf } from '../store/scope.js'

export type Principal =
  | { readonly kind: 'key'; readonly scope: Scope; readonly key: KeyIdentity }
  | { readonly kind: 'operator'; readonly scope: Scope }

export interface Access {
  readonly kinds: readonly Principal['kind'][]
  /** What an API key must be allowed to do. */
  readonly key_scope: 'ingest' | 'read'
}

export type Authenticate = (authorization: string | undefined, access: Access) => Promise<Principal>

/** How long a key that was found is believed, ms; a revoked one is refused after that at the latest. */
const believed = 5000
const mostRemembered = 10_000

const challenge = { 'www-authenticate': 'Bearer realm="svc"' }

/** Rejects with UNAUTHENTICATED, or FORBIDDEN when the credential is sound and of the wrong kind. */
export function createAuthentication(platform: Platform): Authenticate {
  const keys = new Map<string, { row: KeyRow; until: number }>()
  const operatorHash = keyHash(platform.operator_token)

  const findKey = async (hash: Buffer): Promise<KeyRow | null> => {
    const id = hash.toString('base64')
    const known = keys.get(id)
    if (known !== undefined && known.until > platform.clock()) return known.row
    const row = await withUnscopedTransaction(platform.db, (tx) => findKeyUnscoped(tx, hash))
    keys.delete(id)
    if (keys.size >= mostRemembered) keys.clear()
    if (row !== null) keys.set(id, { row, until: platform.clock() + believed })
    return row
  }

  return async (authorization, access) => {
    const token = /^Bearer ([!-~]{1,300})$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthenticated('send `Authorization: Bearer …` with an API key or a token')
    const hash = keyHash(token)
    if (timingSafeEqual(hash, operatorHash)) {
      const scope = scopeOf(platform.operator_org, { kind: 'operator', id: 'local' })
      return allow({ kind: 'operator', scope }, access)
    }
    const row = token.startsWith('SvcKey-') ? await findKey(hash) : null
    if (row === null || isOver(row, platform.clock())) throw unauthenticated('the credential is not valid here')
    const scope = scopeOf(row.org_id, { kind: 'api_key', id: row.key_id })
    return allow({ kind: 'key', scope, key: row }, access)
  }
}

function isOver({ revoked_at, expires_at }: KeyRow, now: number): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now)
}

function allow(principal: Principal, access: Access): Principal {
  if (!access.kinds.includes(principal.kind)) {
    const wanted = access.kinds.includes('key') ? 'an API key (`SvcKey-…`)' : "an operator's token"
    throw new PlatformError('FORBIDDEN', `this needs ${wanted}`)
  }
  if (principal.kind === 'key' && !principal.key.scopes.includes(access.key_scope)) {
    throw new PlatformError('FORBIDDEN', `this key may not do this: it lacks the scope \`${access.key_scope}\``)
  }
  return principal
}

function unauthenticated(detail: string): PlatformError {
  return new PlatformError('UNAUTHENTICATED', detail, { headers: challenge })
}
