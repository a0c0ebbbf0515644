// Idempotency-Key (log.md §4): for 24 hours the same key means the same request, and gets the same answer.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { PlatformError } from '../errors.js'
import type { Call, Reply } from '../http/route.js'
import type { KeyIdentity } from '../ingest/batch.js'
import { withTransaction } from '../store/db.js'
import { forgetRequest, type KnownRequest, keepAnswer, reserveRequest } from '../store/idempotency.js'

/** How long a key is remembered, ms. */
const remembered = 24 * 3600 * 1000

/**
 * Runs the request, or answers as it was answered before. The body is compared through a salted digest only. Rejects
 * with IDEMPOTENCY_KEY_REUSED when the key came with another body.
 */
export async function withIdempotencyKey(call: Call, key: KeyIdentity, run: () => Promise<Reply>): Promise<Reply> {
  const name = call.header('idempotency-key')
  if (name === undefined) return run()
  if (!/^[!-~]{1,200}$/.test(name)) {
    const errors = [{ path: 'Idempotency-Key', message: 'must be 1 to 200 printable characters' }]
    throw new PlatformError('INVALID', 'the header `Idempotency-Key` is not one', { errors })
  }
  const { platform, scope } = call
  const salt = randomBytes(32)
  const reservation = { key_id: key.key_id, name, salt, mac: macOf(call, salt) }
  const known = await withTransaction(platform.db, scope, (tx) =>
    reserveRequest(scope, tx, platform.clock(), remembered, reservation),
  )
  if (known !== null) {
    const answer = answerTo(call, known)
    if (answer !== null) return answer
  }
  try {
    const reply = await run()
    const { status, body } = reply
    await withTransaction(platform.db, scope, (tx) => keepAnswer(scope, tx, reservation, { status, body }))
    return reply
  } catch (error) {
    if (known === null)
      await withTransaction(platform.db, scope, (tx) => forgetRequest(scope, tx, reservation)).catch(() => null)
    throw error
  }
}

/** The answer kept for this request; null while the first try has none, which makes it safe to run again. */
function answerTo(call: Call, known: KnownRequest): Reply | null {
  if (!timingSafeEqual(known.mac, macOf(call, known.salt))) {
    throw new PlatformError(
      'IDEMPOTENCY_KEY_REUSED',
      'this `Idempotency-Key` was sent with another request: use a new one',
    )
  }
  if (known.answer === null) return null
  const status = known.answer.status === 201 ? 200 : known.answer.status
  return { status, body: known.answer.body, headers: { 'idempotent-replayed': 'true' } }
}

function macOf({ raw }: Call, salt: Uint8Array): Buffer {
  return createHmac('sha256', salt).update(raw).digest()
}
