// Idempotency-Key (docs/design/log.md §4): for 24 hours a repeated request gets the answer of the first.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { forgetRequest, type KnownRequest, keepAnswer, reserveRequest } from '../store/idempotency.js'

/** The time in which an answer is kept, ms. */
const retentionMs = 24 * 3600 * 1000

/** The body of a request and its Idempotency-Key, if it has one. */
interface KeyedRequest {
  readonly idempotency_key: string | undefined
  readonly raw: Uint8Array
}

interface KeptReply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Part of the request has to be sent again: the answer is not kept. */
  readonly is_unfinished?: boolean
}

/**
 * Runs the request, or repeats the answer of the first request with the key. Bodies are compared by a salted digest.
 * Rejects with IDEMPOTENCY_KEY_REUSED when the key was used for another body.
 */
export async function withIdempotencyKey(
  { db, clock }: Resources,
  scope: Scope,
  key: KeyIdentity,
  { idempotency_key: name, raw }: KeyedRequest,
  run: () => Promise<KeptReply>,
): Promise<KeptReply> {
  if (name === undefined) return run()
  if (!/^[!-~]{1,200}$/.test(name))
    throw invalid([{ path: 'Idempotency-Key', message: 'must be 1 to 200 printable characters' }])
  const salt = randomBytes(32)
  const reservation = { key_id: key.key_id, name, salt, mac: macOf(raw, salt) }
  const known = await withTransaction(db, scope, (tx) => reserveRequest(scope, tx, clock(), retentionMs, reservation))
  const answer = known === null ? null : answerTo(raw, known)
  if (answer !== null) return answer
  try {
    const { status, body, headers, is_unfinished } = await run()
    await withTransaction(db, scope, (tx) =>
      is_unfinished ? forgetRequest(scope, tx, reservation) : keepAnswer(scope, tx, reservation, { status, body }),
    )
    return { status, body, ...(headers && { headers }) }
  } catch (error) {
    // The request failed: its key is free again. If this fails too, the same request can still be repeated.
    await withTransaction(db, scope, (tx) => forgetRequest(scope, tx, reservation)).catch(() => null)
    throw error
  }
}

/** The answer of the first request; null if it has none, so that the request runs again. */
function answerTo(raw: Uint8Array, { salt, mac, answer }: KnownRequest): KeptReply | null {
  if (!timingSafeEqual(mac, macOf(raw, salt))) {
    throw new PlatformError(
      'IDEMPOTENCY_KEY_REUSED',
      'this `Idempotency-Key` was used for another request: use a new one',
    )
  }
  if (answer === null) return null
  const status = answer.status === 201 ? 200 : answer.status
  return { status, body: answer.body, headers: { 'idempotent-replayed': 'true' } }
}

function macOf(raw: Uint8Array, salt: Uint8Array): Buffer {
  return createHmac('sha256', salt).update(raw).digest()
}
