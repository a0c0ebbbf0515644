// Legal holds (docs/design/log.md §7): a held task is neither erased nor pruned.
import { type Hold, type HoldRequest, isoTime } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import type { Resources } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import { actorText, type Scope } from '../../../db/scope.js'
import { invalidTransition, PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { insertHold, isHold, releaseHold as release } from '../store/holds.js'

/** Places a hold on a task, which need not exist yet, or on the whole log. */
export function placeHold(parts: Resources, scope: Scope, request: HoldRequest): Promise<Hold> {
  const { task_id = null, reason } = request
  // Erasures and prunes take the same lock: later ones see the hold.
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const hold: Hold = {
      id: newId('hold', now),
      task_id,
      reason,
      placed_by: actorText(scope),
      placed_at: isoTime(now),
      released_by: null,
      released_at: null,
    }
    await insertHold(scope, tx, hold)
    const data = { task_id, reason }
    await recordEvents(scope, tx, now, [{ kind: 'hold.placed', subject_kind: 'hold', subject_id: hold.id, data }])
    return hold
  })
}

/** Releases a hold. Rejects with NOT_FOUND, or INVALID_TRANSITION for a released one. */
export function releaseHold(parts: Resources, scope: Scope, id: string): Promise<Hold> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
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
