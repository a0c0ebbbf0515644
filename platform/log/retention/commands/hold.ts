// Legal holds (docs/design/log.md §7): a held task is neither erased nor pruned.
import { type Hold, type HoldRequest, isoTime } from '@svc/schemas'
import { assertStillAllowed } from '../../../access/commands/members.js'
import { type Resources, withTransaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import { actorText, type Scope } from '../../../db/scope.js'
import { invalidTransition, PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { lockLog } from '../../../ledger/log.js'
import { insertHold, isHold, releaseHold as release } from '../store/holds.js'

/** Places a hold on a task, which need not exist yet, or on the whole log. */
export async function placeHold({ db, clock }: Resources, scope: Scope, request: HoldRequest): Promise<Hold> {
  const now = clock()
  const { task_id = null, reason } = request
  const hold: Hold = {
    id: newId('hold', now),
    task_id,
    reason,
    placed_by: actorText(scope),
    placed_at: isoTime(now),
    released_by: null,
    released_at: null,
  }
  return withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, admins)
    // Erasures and prunes take the same lock: later ones see the hold.
    await lockLog(scope, tx)
    await insertHold(scope, tx, hold)
    const data = { task_id, reason }
    await recordEvents(scope, tx, now, [{ kind: 'hold.placed', subject_kind: 'hold', subject_id: hold.id, data }])
    return hold
  })
}

/** Releases a hold. Rejects with NOT_FOUND, or INVALID_TRANSITION for a released one. */
export async function releaseHold({ db, clock }: Resources, scope: Scope, id: string): Promise<Hold> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, admins)
    await lockLog(scope, tx)
    const hold = await release(scope, tx, id, actorText(scope), isoTime(now))
    if (hold === null) {
      if (await isHold(scope, tx, id)) throw invalidTransition('release', 'a hold', 'released', ['active'])
      throw new PlatformError('NOT_FOUND', 'no hold with this id: GET /api/v1/holds lists them')
    }
    const data = { task_id: hold.task_id, reason: hold.reason }
    await recordEvents(scope, tx, now, [{ kind: 'hold.released', subject_kind: 'hold', subject_id: id, data }])
    return hold
  })
}
