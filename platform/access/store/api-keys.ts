// The API keys of a workspace as its admins manage them. A key is stored only as its SHA-256.
import type { ApiKey } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

const columns = `key_id as id, name, scopes, ${utc('created_at')}, ${utc('expires_at')}, ${utc('revoked_at')}, ${utc('last_used_at')}`

/** All keys, the newest first, including revoked and expired ones. */
export async function readKeys(scope: Scope, tx: Transaction): Promise<ApiKey[]> {
  return tx.query<ApiKey>(`select ${columns} from api_keys where org_id = $1 order by key_id desc`, [scope.org_id])
}

export async function readKey(scope: Scope, tx: Transaction, id: string): Promise<ApiKey | null> {
  const [key] = await tx.query<ApiKey>(`select ${columns} from api_keys where org_id = $1 and key_id = $2`, [
    scope.org_id,
    id,
  ])
  return key ?? null
}

export async function insertKey(scope: Scope, tx: Transaction, key: ApiKey, hash: Uint8Array): Promise<void> {
  await tx.query(
    `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at, expires_at)
     values ($1, $2, $3, $3, $4, $5, $6, $7)`,
    [scope.org_id, key.id, hash, key.name, key.scopes, key.created_at, key.expires_at],
  )
}

/** False for an unknown or revoked key. */
export async function revokeKey(scope: Scope, tx: Transaction, id: string, at: string): Promise<boolean> {
  const rows = await tx.query(
    'update api_keys set revoked_at = $3 where org_id = $1 and key_id = $2 and revoked_at is null returning 1',
    [scope.org_id, id, at],
  )
  return rows.length > 0
}

/** Replaces the secret of the key; agents keep the ids that are derived from the first secret. False for an unknown or revoked key. */
export async function rollKey(scope: Scope, tx: Transaction, id: string, hash: Uint8Array): Promise<boolean> {
  const rows = await tx.query(
    'update api_keys set key_hash = $3 where org_id = $1 and key_id = $2 and revoked_at is null returning 1',
    [scope.org_id, id, hash],
  )
  return rows.length > 0
}
