import { onOneLine } from '@svc/engine/parts'
import { type ActionTest, isoTime } from '@svc/schemas'
import { withSnapshot, withTransaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import type { Scope } from '../../../db/scope.js'
import { unknownAction } from '../errors.js'
import { sendMessage } from '../kinds/send.js'
import { outcomeOf } from '../outcome.js'
import type { ActionParts } from '../parts.js'
import { resumeReceiver } from '../store/actions.js'
import { findReceiver } from '../store/attempts.js'
import { deliverName } from '../triggers.js'

/** Characters of the answer that are shown. */
const maxShown = 200

/** Sends a delivery of the type `action.test` now; it is not stored, and not repeated. Rejects with NOT_FOUND and RATE_LIMITED. */
export async function testAction(parts: ActionParts, scope: Scope, id: string): Promise<ActionTest> {
  const { db, clock } = parts
  const receiver = await withSnapshot(db, scope, (tx) => findReceiver(scope, tx, id))
  if (receiver === null) throw unknownAction()
  parts.tests.take(scope.org_id)
  const now = clock()
  const data = { action: { id, name: receiver.name, kind: receiver.kind } }
  const body = JSON.stringify({ type: 'action.test', timestamp: isoTime(now), data })
  const started = performance.now()
  const message = { id: newId('dlv', now), body }
  const { attempt, text } = await sendMessage(parts, scope.org_id, receiver, message, new AbortController().signal)
  const duration_ms = Math.round(performance.now() - started)
  const { verdict, status, error } = outcomeOf(attempt)
  const delivered = verdict === 'delivered'
  if (delivered && receiver.retry_at !== null) await resume(parts, scope, id)
  return { delivered, status, duration_ms, body: text === null ? null : onOneLine(text.slice(0, maxShown)), error }
}

/** The receiver is back: what waits for it is delivered. */
function resume({ db, send }: ActionParts, scope: Scope, id: string): Promise<void> {
  return withTransaction(db, scope, async (tx) => {
    await resumeReceiver(scope, tx, id)
    await send(deliverName, { org_id: scope.org_id, action_id: id }, { tx })
  })
}
