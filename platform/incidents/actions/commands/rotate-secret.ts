import { type ActionSecret, isoTime } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import type { Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { actionSecretContext } from '../../../secrets/store.js'
import { unknownAction } from '../errors.js'
import { kinds } from '../kinds/kinds.js'
import type { ActionParts } from '../parts.js'
import { lockAction, replaceSecret } from '../store/actions.js'
import { noteAction, sealed } from './change.js'

/** The time in which the previous secret signs next to the new one, ms. */
const overlapMs = 24 * 3_600_000

/** Makes a new signing secret, which is returned only here. Rejects with NOT_FOUND, CONFLICT and ENCRYPTION_KEY_INVALID. */
export async function rotateSecret(parts: ActionParts, scope: Scope, id: string): Promise<ActionSecret> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const action = await lockAction(scope, tx, id)
    if (action === null) throw unknownAction()
    const { newSecret } = kinds[action.kind]
    if (newSecret === null) throw new PlatformError('CONFLICT', `an action of the kind ${action.kind} has no secret`)
    const secret = newSecret()
    const until = now + overlapMs
    await replaceSecret(scope, tx, id, sealed(parts, actionSecretContext(scope.org_id, id), secret), until)
    const previous_secret_until = isoTime(until)
    await noteAction(scope, tx, now, 'action.secret_rotated', id, { name: action.name, previous_secret_until })
    return { secret, previous_secret_until }
  })
}
