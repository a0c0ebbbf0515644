// Requests with an Idempotency-Key, and their answers.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

interface Reservation {
  readonly key_id: string
  readonly name: string
  readonly salt: Uint8Array
  readonly mac: Uint8Array
}

export interface KnownRequest {
  readonly salt: Buffer
  readonly mac: Buffer
  readonly answer: { readonly status: number; readonly body: unknown } | null
}

/** Reserves the key for this request; returns the earlier request if the key was used within `retention_ms`, else null. */
export async function reserveRequest(
  scope: Scope,
  tx: Transaction,
  now: number,
  retention_ms: number,
  { key_id, name, salt, mac }: Reservation,
): Promise<KnownRequest | null> {
  const oldest = isoTime(now - retention_ms)
  await tx.query('delete from idempotency_keys where org_id = $1 and created_at < $2', [scope.org_id, oldest])
  const taken = await tx.query(
    `insert into idempotency_keys (org_id, api_key_id, key, salt, mac, created_at) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing returning key`,
    [scope.org_id, key_id, name, salt, mac, isoTime(now)],
  )
  if (taken.length > 0) return null
  const [known] = await tx.query<KnownRequest>(
    'select salt, mac, answer from idempotency_keys where org_id = $1 and api_key_id = $2 and key = $3',
    [scope.org_id, key_id, name],
  )
  return known ?? null
}

export async function keepAnswer(
  scope: Scope,
  tx: Transaction,
  { key_id, name }: Reservation,
  answer: { readonly status: number; readonly body?: unknown },
): Promise<void> {
  await tx.query('update idempotency_keys set answer = $4 where org_id = $1 and api_key_id = $2 and key = $3', [
    scope.org_id,
    key_id,
    name,
    JSON.stringify(answer),
  ])
}

/** Releases the key of a request that failed. */
export async function forgetRequest(scope: Scope, tx: Transaction, { key_id, name }: Reservation): Promise<void> {
  await tx.query('delete from idempotency_keys where org_id = $1 and api_key_id = $2 and key = $3 and answer is null', [
    scope.org_id,
    key_id,
    name,
  ])
}
