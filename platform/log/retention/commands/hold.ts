// Legal holds (docs/design/log.md §7): while one is on, nothing it names is erased or pruned.
import type { Hold, HoldRequest } from '@svc/schemas'
import { assertMayStill } from '../../../access/commands/members.js'
import { type Resources, withTransaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import type { Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { lockLog } from '../../../ledger/log.js'
import { insertHold, releaseHold as release } from '../store/holds.js'

/** Places a hold on a task, which may yet begin, or on everything. */
export async function placeHold({ db, clock }: Resources, scope: Scope, request: HoldRequest): Promise<Hold> {
  const now = clock()
  const { task_id = null, reason } = request
  const hold: Hold = {
    ...{ id: newId('hold', now), task_id, reason, placed_by: actorOf(scope), placed_at: new Date(now).toISOString() },
    ...{ released_by: null, released_at: null },
  }
  return withTransaction(db, scope, async (tx) => {
    await assertMayStill(scope, tx, admins)
    // Whoever erases or prunes holds the log: from here on they see the hold.
    await lockLog(scope, tx)
    await insertHold(scope, tx, hold)
    const data = { task_id, reason }
    await recordEvents(scope, tx, now, [{ kind: 'hold.placed', subject_kind: 'hold', subject_id: hold.id, data }])
    return hold
  })
}

/** Releases a hold. Rejects with NOT_FOUND when there is none of that id that is on. */
export async function releaseHold({ db, clock }: Resources, scope: Scope, id: string): Promise<Hold> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    await assertMayStill(scope, tx, admins)
    await lockLog(scope, tx)
    const hold = await release(scope, tx, id, actorOf(scope), new Date(now).toISOString())
    if (hold === null) throw new PlatformError('NOT_FOUND', 'no such hold that is on')
    const data = { task_id: hold.task_id, reason: hold.reason }
    await recordEvents(scope, tx, now, [{ kind: 'hold.released', subject_kind: 'hold', subject_id: id, data }])
    return hold
  })
}

function actorOf({ actor: { kind, id } }: Scope): string {
  return `${kind}:${id}`
}
