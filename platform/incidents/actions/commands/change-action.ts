import type { Action, ActionChange } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { admins } from '../../../http/principal.js'
import { actionTargetContext } from '../../../secrets/store.js'
import { unknownAction } from '../errors.js'
import { kinds } from '../kinds/kinds.js'
import type { ActionParts } from '../parts.js'
import { type ActionValues, findAction, lockAction, updateAction } from '../store/actions.js'
import { findReceiver } from '../store/attempts.js'
import { deliverName } from '../triggers.js'
import { assertLimits } from './assert-limits.js'
import { noteAction, sealed } from './change.js'
import { configInEvent, listOf, listOrAll } from './read-config.js'

/** Changes an action, whose receiver is then tried at once. Rejects with NOT_FOUND, INVALID and ENCRYPTION_KEY_INVALID. */
export async function changeAction(
  parts: ActionParts,
  scope: Scope,
  id: string,
  change: ActionChange,
): Promise<Action> {
  return changeAs(parts, scope, admins, (tx, { now }) => changeActionIn(parts, scope, tx, now, id, change))
}

/** The same within a transaction of `changeAs`. */
export async function changeActionIn(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  change: ActionChange,
): Promise<Action> {
  const known = await lockAction(scope, tx, id)
  if (known === null) throw unknownAction()
  const { values, target } = await readChange(parts, scope, tx, known, change)
  const sealed_target = target === null ? null : sealed(parts, actionTargetContext(scope.org_id, id), target)
  await updateAction(scope, tx, now, id, values, sealed_target)
  await noteChanges(scope, tx, now, known, values, sealed_target !== null)
  if (values.enabled) await parts.send(deliverName, { org_id: scope.org_id, action_id: id }, { tx })
  return (await findAction(scope, tx, id)) as Action
}

export interface WrittenChange {
  readonly values: ActionValues
  /** A new address of the receiver; null for the one before. */
  readonly target: string | null
}

/** An action as a change would make it; writes nothing. Rejects with INVALID. */
export async function readChange(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  known: Action,
  change: ActionChange,
): Promise<WrittenChange> {
  const { name, enabled, min_severity, agent_ids, policy_ids, on } = change
  const { config, target } = isShown(known, change)
    ? { config: known.config, target: null }
    : kinds[known.kind].read(parts, change.config ?? {})
  const values: ActionValues = {
    name: name ?? known.name,
    on: on === undefined ? known.on : listOf(on),
    min_severity: min_severity === undefined ? known.min_severity : min_severity,
    agent_ids: agent_ids === undefined ? known.agent_ids : listOrAll(agent_ids),
    policy_ids: policy_ids === undefined ? known.policy_ids : listOrAll(policy_ids),
    config,
    enabled: enabled ?? known.enabled,
  }
  await assertLimits(scope, tx, newLimits(known, values))
  const isNew = target !== null && target !== (await targetOf(parts, scope, tx, known.id))
  return { values, target: isNew ? target : null }
}

/** True for a client that sends back what it read, which of an address is a part. */
function isShown({ config: known }: Action, { config }: ActionChange): boolean {
  if (config === undefined) return true
  return config.url === known.url && (config.to === undefined || String(listOf(config.to)) === String(known.to))
}

/** The address of the receiver; null for one that cannot be opened, so that it can be set again. */
async function targetOf({ sealer }: ActionParts, scope: Scope, tx: Transaction, id: string): Promise<string | null> {
  const { sealed_target = null } = (await findReceiver(scope, tx, id)) ?? {}
  if (sealed_target === null) return null
  try {
    return sealer.open(actionTargetContext(scope.org_id, id), sealed_target).toString()
  } catch {
    return null
  }
}

/** The limits that a change sets. An agent or a policy that was there when they were set may be gone. */
function newLimits(known: Action, { agent_ids, policy_ids }: ActionValues): Pick<Action, 'agent_ids' | 'policy_ids'> {
  const added = <T>(before: readonly T[] | null, after: readonly T[] | null) =>
    after === null ? null : after.filter((one) => before?.includes(one) !== true)
  return { agent_ids: added(known.agent_ids, agent_ids), policy_ids: added(known.policy_ids, policy_ids) }
}

const members = ['name', 'on', 'min_severity', 'agent_ids', 'policy_ids', 'config'] as const

/** The members that differ, apart from `enabled`. */
export function differentMembers(before: ActionValues, after: ActionValues): (typeof members)[number][] {
  return members.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

/** One event for the members that changed, and one for being enabled or disabled; none without a change. */
async function noteChanges(
  scope: Scope,
  tx: Transaction,
  now: number,
  known: Action,
  values: ActionValues,
  hasNewTarget: boolean,
): Promise<void> {
  const before = { ...known, config: configInEvent(known.config) }
  const after = { ...values, config: configInEvent(values.config) }
  const different = differentMembers(before, after)
  const from = Object.fromEntries(different.map((name) => [name, before[name]]))
  const to = Object.fromEntries(different.map((name) => [name, after[name]]))
  const data = { name: values.name, from, to, ...(hasNewTarget && { address_changed: true }) }
  if (different.length > 0 || hasNewTarget) await noteAction(scope, tx, now, 'action.updated', known.id, data)
  if (known.enabled === values.enabled) return
  const kind = values.enabled ? 'action.enabled' : 'action.disabled'
  await noteAction(scope, tx, now, kind, known.id, { name: values.name })
}
