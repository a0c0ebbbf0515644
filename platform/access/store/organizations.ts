// Organizations, and the API keys of all of them. A key is stored only as its SHA-256.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { utc } from '../../db/sql.js'
import type { KeyIdentity } from '../../http/principal.js'

export interface KeyRow extends KeyIdentity {
  readonly org_id: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The key with this hash, of any organization: the caller is not authenticated yet. */
export async function findKeyUnscoped(tx: Transaction, hash: Uint8Array): Promise<KeyRow | null> {
  // An unknown key returns a row as well, so that both lookups take the same time.
  const [row] = await tx.query<KeyRow | { readonly key_id: null }>(
    `select k.org_id, k.key_id, k.first_key_hash, k.scopes, ${utc('k.expires_at')}, ${utc('k.revoked_at')}, ${utc('k.last_used_at')}
     from (values ($1::bytea)) as sent (hash) left join api_keys k on k.key_hash = sent.hash`,
    [hash],
  )
  return row === undefined || row.key_id === null ? null : row
}

/** True if a key has or had this secret: a secret that was rolled or revoked is not accepted again. */
export async function isSpentUnscoped(tx: Transaction, hash: Uint8Array): Promise<boolean> {
  return (await tx.query('select 1 from api_keys where key_hash = $1 or first_key_hash = $1', [hash])).length > 0
}

/** Stores the last use of the key. */
export async function touchKeyUnscoped(tx: Transaction, { org_id, key_id }: KeyRow, now: number): Promise<void> {
  const at = isoTime(now)
  await tx.query(
    'update api_keys set last_used_at = $3 where org_id = $1 and key_id = $2 and (last_used_at is null or last_used_at < $3)',
    [org_id, key_id, at],
  )
}

/** Locks the table until the transaction ends: other transactions cannot create an organization. */
export async function lockOrganizationsUnscoped(tx: Transaction): Promise<void> {
  await tx.query('lock table organizations in exclusive mode')
}

/** The first organization, null on a fresh database. */
export async function firstOrganizationUnscoped(tx: Transaction): Promise<string | null> {
  const [row] = await tx.query<{ org_id: string }>(
    'select org_id from organizations order by created_at, org_id limit 1',
  )
  return row?.org_id ?? null
}

export async function organizationsUnscoped(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ org_id: string }>('select org_id from organizations order by org_id')
  return rows.map(({ org_id }) => org_id)
}

/** Creates an organization with its empty log. */
export async function insertOrganizationUnscoped(
  tx: Transaction,
  now: number,
  org_id: string,
  name: string,
): Promise<void> {
  await tx.query(`insert into organizations (org_id, name, kind, created_at) values ($1, $2, 'personal', $3)`, [
    org_id,
    name,
    isoTime(now),
  ])
  await tx.query('insert into org_log (org_id) values ($1)', [org_id])
}

interface NewKey {
  readonly org_id: string
  readonly key_id: string
  readonly hash: Uint8Array
  readonly name: string
}

/** Stores a key with the scopes `ingest` and `read`. */
export async function insertKeyUnscoped(tx: Transaction, now: number, key: NewKey): Promise<void> {
  await tx.query(
    `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at)
     values ($1, $2, $3, $3, $4, '{ingest,read}', $5)`,
    [key.org_id, key.key_id, key.hash, key.name, isoTime(now)],
  )
}
