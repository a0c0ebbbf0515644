// Functions that all changes of actions share.
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { recordEvents } from '../../../ledger/events.js'
import { keyInvalid } from '../../../secrets/encryption-key.js'
import type { ActionParts } from '../parts.js'

/** Throws ENCRYPTION_KEY_INVALID when there is no key to seal with, or its file does not hold it. */
export function sealed({ sealer, assertKeyKept }: ActionParts, context: string, secret: string): string {
  assertKeyKept()
  const text = sealer.seal(context, Buffer.from(secret))
  if (text === null) throw keyInvalid()
  return text
}

/** Records an event about an action; data holds no secrets. */
export function noteAction(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: `action.${'created' | 'updated' | 'deleted' | 'enabled' | 'disabled' | 'secret_rotated'}`,
  id: string,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  return recordEvents(scope, tx, now, [{ kind, subject_kind: 'action', subject_id: id, data }])
}
