import type { Action, ActionRequest, MadeAction } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import { newId } from '../../../db/ids.js'
import { actorText, type Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { actionSecretContext, actionTargetContext } from '../../../secrets/store.js'
import { kinds } from '../kinds/kinds.js'
import type { ActionParts } from '../parts.js'
import { countActions, findAction, insertAction } from '../store/actions.js'
import { assertLimits } from './assert-limits.js'
import { noteAction, sealed } from './change.js'
import { configInEvent, listOf, listOrAll } from './read-config.js'

/** All of them are read when an incident opens. */
const maxActions = 100

/** Creates an action; its secret is returned only here. Rejects with INVALID, CONFLICT and ENCRYPTION_KEY_INVALID. */
export async function createAction(parts: ActionParts, scope: Scope, request: ActionRequest): Promise<MadeAction> {
  const { name, kind, enabled = true, min_severity = null } = request
  const { config, target } = kinds[kind].read(parts, request.config)
  const secret = kinds[kind].newSecret?.() ?? null
  const conditions = {
    on: listOf(request.on),
    min_severity,
    agent_ids: listOrAll(request.agent_ids),
    policy_ids: listOrAll(request.policy_ids),
  }
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    if ((await countActions(scope, tx)) >= maxActions)
      throw new PlatformError('CONFLICT', `a workspace has at most ${maxActions} actions: delete one first`)
    await assertLimits(scope, tx, conditions)
    const id = newId('act', now)
    const { org_id } = scope
    const secrets = {
      sealed_target: target === null ? null : sealed(parts, actionTargetContext(org_id, id), target),
      sealed_secret: secret === null ? null : sealed(parts, actionSecretContext(org_id, id), secret),
    }
    const action = { id, name, kind, enabled, config, ...conditions, ...secrets }
    await insertAction(scope, tx, now, action, actorText(scope))
    await noteAction(scope, tx, now, 'action.created', id, {
      name,
      kind,
      config: configInEvent(config),
      enabled,
      ...conditions,
    })
    return { action: (await findAction(scope, tx, id)) as Action, secret }
  })
}
