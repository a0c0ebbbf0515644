import { changeAs } from '../../../access/commands/members.js'
import type { Scope } from '../../../db/scope.js'
import { invalidTransition, PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { unknownDelivery } from '../errors.js'
import type { ActionParts } from '../parts.js'
import { lockAction, resumeReceiver } from '../store/actions.js'
import { findDelivery, type PlacedDelivery, reviveDelivery } from '../store/deliveries.js'
import { deliverName } from '../triggers.js'

/**
 * Delivers again what was delivered or given up, under the same id, and tries its receiver at once. Rejects with NOT_FOUND,
 * INVALID_TRANSITION, and with CONFLICT for an action that is disabled.
 */
export async function redeliver(parts: ActionParts, scope: Scope, id: string): Promise<PlacedDelivery> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const known = await findDelivery(scope, tx, id)
    if (known === null) throw unknownDelivery()
    const { action_id, type, subject_id, state } = known
    const action = await lockAction(scope, tx, action_id)
    if (!(await reviveDelivery(scope, tx, now, id)))
      throw invalidTransition('redeliver', 'a delivery', state, ['delivered', 'dead'])
    if (action?.enabled !== true)
      throw new PlatformError(
        'CONFLICT',
        `the action \`${action_id}\` is ${action === null ? 'deleted' : 'disabled: enable it first'}`,
      )
    await resumeReceiver(scope, tx, action_id)
    const data = { action_id, type, subject_id, from: state }
    await recordEvents(scope, tx, now, [
      { kind: 'delivery.redelivered', subject_kind: 'delivery', subject_id: id, data },
    ])
    await parts.send(deliverName, { org_id: scope.org_id, action_id }, { tx })
    return (await findDelivery(scope, tx, id)) as PlacedDelivery
  })
}
