import type { Action, ActionRequest, MadeAction } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import type { Transaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import { actorText, type Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { actionSecretContext, actionTargetContext } from '../../../secrets/store.js'
import type { ReadConfig } from '../kinds/kind.js'
import { kinds } from '../kinds/kinds.js'
import type { ActionParts } from '../parts.js'
import { type ActionValues, countActions, findAction, insertAction } from '../store/actions.js'
import { assertLimits } from './assert-limits.js'
import { noteAction, sealed } from './change.js'
import { configInEvent, listOf, listOrAll } from './read-config.js'

/** All of them are read when an incident opens. */
const maxActions = 100

/** A new action as it is asked for. */
export interface WrittenAction extends ActionValues, Pick<ReadConfig, 'target'> {
  readonly kind: Action['kind']
}

/** Throws INVALID for a wrong configuration. */
export function readAction(parts: ActionParts, request: ActionRequest): WrittenAction {
  const { name, kind, enabled = true, min_severity = null } = request
  return {
    name,
    kind,
    on: listOf(request.on),
    min_severity,
    agent_ids: listOrAll(request.agent_ids),
    policy_ids: listOrAll(request.policy_ids),
    enabled,
    ...kinds[kind].read(parts, request.config),
  }
}

/** Creates an action; its secret is returned only here. Rejects with INVALID, CONFLICT and ENCRYPTION_KEY_INVALID. */
export async function createAction(parts: ActionParts, scope: Scope, request: ActionRequest): Promise<MadeAction> {
  const written = readAction(parts, request)
  return changeAs(parts, scope, admins, (tx, { now }) => createActionIn(parts, scope, tx, now, written))
}

/** The same within a transaction of `changeAs`. */
export async function createActionIn(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  now: number,
  written: WrittenAction,
): Promise<MadeAction> {
  await assertNewAction(scope, tx, written)
  const { target, ...values } = written
  const secret = kinds[values.kind].newSecret?.() ?? null
  const id = newId('act', now)
  const { org_id } = scope
  const secrets = {
    sealed_target: target === null ? null : sealed(parts, actionTargetContext(org_id, id), target),
    sealed_secret: secret === null ? null : sealed(parts, actionSecretContext(org_id, id), secret),
  }
  await insertAction(scope, tx, now, { id, ...values, ...secrets }, actorText(scope))
  const { name, kind, config, enabled, ...conditions } = values
  await noteAction(scope, tx, now, 'action.created', id, {
    name,
    kind,
    config: configInEvent(config),
    enabled,
    ...conditions,
  })
  return { action: (await findAction(scope, tx, id)) as Action, secret }
}

/** Rejects with INVALID for unknown agents and policies, and with CONFLICT without room for another action after `more` new ones. */
export async function assertNewAction(scope: Scope, tx: Transaction, written: WrittenAction, more = 0): Promise<void> {
  if ((await countActions(scope, tx)) + more >= maxActions)
    throw new PlatformError('CONFLICT', `a workspace has at most ${maxActions} actions: delete one first`)
  await assertLimits(scope, tx, written)
}
