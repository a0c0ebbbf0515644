// Authentication of programs by an API key, and of the operator by the token of this install.
import { timingSafeEqual } from 'node:crypto'
import { scopeOf } from '../db/scope.js'
import type { Principal } from '../http/principal.js'
import { secretHash } from '../secrets/secret-hash.js'
import { createKnownKeys } from './known-keys.js'
import type { AccessParts } from './parts.js'
import type { KeyRow } from './store/organizations.js'

/** The operator token of a local install and its organization. */
export interface Operator {
  readonly operator_org: string
  readonly operator_token: string
}

/** The maximum number of pairs of network and credential that are cached as valid; others are looked up again. */
const maxProven = 50_000

/**
 * The principal of a secret; null for an invalid one. Invalid secrets are counted by network. A network over the limit can
 * only use secrets that were valid from there before: guessing stops, and the agents of that network keep working.
 */
export function createSecretAuthentication(
  parts: AccessParts,
  { operator_org, operator_token }: Operator,
): (token: string, network: string) => Promise<Principal | null> {
  const { clock, limits } = parts
  const operator: Principal = { kind: 'operator', scope: scopeOf(operator_org, { kind: 'operator', id: 'local' }) }
  const findKey = createKnownKeys(parts)
  const operatorHash = secretHash(operator_token)
  const proven = new Set<string>()

  const byKey = async (hash: Buffer): Promise<Principal | null> => {
    const row = await findKey(hash)
    if (row === null || isKeyEnded(row, clock())) return null
    limits.by_key.take(`${row.org_id} ${row.key_id}`)
    return { kind: 'key', scope: scopeOf(row.org_id, { kind: 'api_key', id: row.key_id }), key: row }
  }
  return async (token, network) => {
    const hash = secretHash(token)
    const attempt = async () => {
      if (timingSafeEqual(hash, operatorHash)) return operator
      return token.startsWith('SvcKey-') ? byKey(hash) : null
    }
    const pair = `${network} ${hash.toString('base64')}`
    if (proven.has(pair)) {
      const principal = await attempt()
      if (principal !== null) return principal
      proven.delete(pair)
    }
    const principal = await limits.by_wrong_credential.guard(network, attempt)
    if (proven.size >= maxProven) proven.clear()
    if (principal !== null) proven.add(pair)
    return principal
  }
}

/** True if a key has expired or was revoked; `now` is ms since 1970. */
export function isKeyEnded({ revoked_at, expires_at }: KeyRow, now: number): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now)
}
