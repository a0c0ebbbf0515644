import { changeAs } from '../../../access/commands/members.js'
import type { Scope } from '../../../db/scope.js'
import { admins } from '../../../http/principal.js'
import { unknownAction } from '../errors.js'
import type { ActionParts } from '../parts.js'
import { lockAction, removeAction } from '../store/actions.js'
import { cancelDeliveries } from '../store/deliveries.js'
import { noteAction } from './change.js'

/** Deletes an action with its secrets and cancels what it has not delivered; its past deliveries can be read. Rejects with NOT_FOUND. */
export async function deleteAction(parts: ActionParts, scope: Scope, id: string): Promise<void> {
  await changeAs(parts, scope, admins, async (tx, { now }) => {
    const action = await lockAction(scope, tx, id)
    if (action === null) throw unknownAction()
    await removeAction(scope, tx, now, id)
    const cancelled = await cancelDeliveries(scope, tx, now, id)
    const { name, kind } = action
    await noteAction(scope, tx, now, 'action.deleted', id, { name, kind, cancelled })
  })
}
