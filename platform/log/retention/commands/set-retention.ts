// Sets the retention period (docs/design/log.md §7).
import { changeAs } from '../../../access/commands/members.js'
import type { Resources, Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { retentionDays, setRetentionDays } from '../store/retention.js'

/** Sets the retention period in days; the schema of the request requires 184 or more. An unchanged value records no event. */
export function setRetention(parts: Resources, scope: Scope, days: number): Promise<void> {
  return changeAs(parts, scope, admins, (tx, { now }) => setRetentionIn(scope, tx, now, days))
}

/** The same within a transaction of `changeAs`. */
export async function setRetentionIn(scope: Scope, tx: Transaction, now: number, days: number): Promise<void> {
  const before = await retentionDays(scope, tx)
  if (before === days) return
  await setRetentionDays(scope, tx, days)
  const data = { from: before, to: days }
  const event = { kind: 'retention.changed', subject_kind: 'log', subject_id: scope.org_id, data }
  await recordEvents(scope, tx, now, [event])
}
