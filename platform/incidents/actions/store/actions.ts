// Actions as people configure them. A deleted one stays for its past deliveries.
import type { Action } from '@svc/schemas'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, raw, read, rowsOf, total } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { utc, utcText } from '../../../db/sql.js'
import type { Conditions } from '../matching.js'

const columns = `id, name, triggers as "on", min_severity, agent_ids, to_jsonb(policy_ids) as policy_ids, kind, config, enabled,
  json_build_object('failures', failures, 'retry_at', ${utcText('retry_at')}, 'error', receiver_error) as receiver,
  ${utc('previous_secret_until')}, ${utc('created_at')}, created_by, ${utc('updated_at')}`

/** The sealed secrets of an action. */
export interface Sealed {
  readonly sealed_target: string | null
  readonly sealed_secret: string | null
}

/** The members that people set. */
export type ActionValues = Pick<
  Action,
  'name' | 'on' | 'min_severity' | 'agent_ids' | 'policy_ids' | 'config' | 'enabled'
>

interface NewAction extends ActionValues, Sealed {
  readonly id: string
  readonly kind: Action['kind']
}

/** Null for an unknown or deleted action. */
export function findAction(scope: Scope, tx: Transaction, id: string): Promise<Action | null> {
  return actionAt(scope, tx, id, 'and deleted_at is null')
}

/** Also a deleted one, whose deliveries can still be read. */
export function findPastAction(scope: Scope, tx: Transaction, id: string): Promise<Action | null> {
  return actionAt(scope, tx, id, '')
}

/** Locks the action until the transaction ends. */
export function lockAction(scope: Scope, tx: Transaction, id: string): Promise<Action | null> {
  return actionAt(scope, tx, id, 'and deleted_at is null for update')
}

async function actionAt({ org_id }: Scope, tx: Transaction, id: string, more: string): Promise<Action | null> {
  const text = `select ${columns} from actions where org_id = $1 and id = $2 ${more}`
  const [action] = await tx.query<Action>(text, [org_id, id])
  return action ?? null
}

export function listActions(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Action>> {
  const { enabled, kind, failing } = filter
  const actions = rowsOf(scope, 'actions').whereNull('deleted_at').where(equal({ enabled, kind }))
  if (failing !== undefined) actions.where('failures', failing === 'true' ? '>' : '=', 0)
  return page<Action>(tx, actions, { columns, key: 'id', newest_first: true }, at)
}

/** All actions that are not deleted, by name. They are few. */
export function allActions(scope: Scope, tx: Transaction): Promise<Action[]> {
  const actions = rowsOf(scope, 'actions').whereNull('deleted_at').orderByRaw('name collate "C", id')
  return read<Action>(tx, actions.select(raw(columns)))
}

export function countActions(scope: Scope, tx: Transaction): Promise<number> {
  return total(tx, rowsOf(scope, 'actions').whereNull('deleted_at'))
}

/**
 * The conditions of the enabled actions that answer one of these triggers. Their `policy_ids` include those of the given policies
 * that are later versions of a named one: the same policy of the same manifest on the same agent.
 */
export function enabledActions(
  scope: Scope,
  tx: Transaction,
  triggers: readonly string[],
  policy_ids: readonly number[],
): Promise<Conditions[]> {
  return tx.query<Conditions>(
    `select a.id, a.triggers as "on", a.min_severity, a.agent_ids, case when a.policy_ids is not null then to_jsonb(a.policy_ids || array(
       select found.id from policies found
       join policies named on named.org_id = found.org_id and named.id = any(a.policy_ids) and named.name = found.name
         and named.manifest_id = found.manifest_id and named.agent_id = found.agent_id
       where found.org_id = a.org_id and found.id = any($3::bigint[]))) end as policy_ids
     from actions a where a.org_id = $1 and a.enabled and a.deleted_at is null and a.triggers && $2::text[] order by a.id`,
    [scope.org_id, triggers, policy_ids],
  )
}

export async function insertAction(
  scope: Scope,
  tx: Transaction,
  now: number,
  action: NewAction,
  by: string,
): Promise<void> {
  const { id, kind, sealed_target, sealed_secret } = action
  await tx.query(
    `insert into actions (org_id, id, name, triggers, min_severity, agent_ids, policy_ids, config, enabled, updated_at,
       kind, sealed_target, sealed_secret, created_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $10, $14)`,
    [...valuesOf(scope, id, action, now), kind, sealed_target, sealed_secret, by],
  )
}

/** Changes an action; with `sealed_target`, also the address of its receiver. It is then tried at once. */
export async function updateAction(
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  values: ActionValues,
  sealed_target: string | null,
): Promise<void> {
  await tx.query(
    `update actions set name = $3, triggers = $4, min_severity = $5, agent_ids = $6, policy_ids = $7, config = $8, enabled = $9,
       updated_at = $10, sealed_target = coalesce($11, sealed_target), failures = 0, retry_at = null, receiver_error = null
     where org_id = $1 and id = $2`,
    [...valuesOf(scope, id, values, now), sealed_target],
  )
}

function valuesOf({ org_id }: Scope, id: string, values: ActionValues, now: number): unknown[] {
  const { name, on, min_severity, agent_ids, policy_ids, config, enabled } = values
  return [org_id, id, name, on, min_severity, agent_ids, policy_ids, JSON.stringify(config), enabled, isoTime(now)]
}

/** Puts a secret in place of the one before, which also signs until then (ms since 1970). */
export async function replaceSecret(
  scope: Scope,
  tx: Transaction,
  id: string,
  sealed_secret: string,
  previous_until: number,
): Promise<void> {
  await tx.query(
    `update actions set sealed_previous_secret = sealed_secret, previous_secret_until = $4, sealed_secret = $3
     where org_id = $1 and id = $2`,
    [scope.org_id, id, sealed_secret, isoTime(previous_until)],
  )
}

/** Deletes the action with its secrets. */
export async function removeAction(scope: Scope, tx: Transaction, now: number, id: string): Promise<void> {
  await tx.query(
    `update actions set deleted_at = $3, enabled = false, sealed_target = null, sealed_secret = null,
       sealed_previous_secret = null, previous_secret_until = null where org_id = $1 and id = $2`,
    [scope.org_id, id, isoTime(now)],
  )
}

export async function disableAction(scope: Scope, tx: Transaction, now: number, id: string): Promise<boolean> {
  const rows = await tx.query(
    'update actions set enabled = false, updated_at = $3 where org_id = $1 and id = $2 and enabled returning id',
    [scope.org_id, id, isoTime(now)],
  )
  return rows.length > 0
}

/** Lets the receiver be tried at once. */
export async function resumeReceiver(scope: Scope, tx: Transaction, id: string): Promise<void> {
  await tx.query(
    'update actions set failures = 0, retry_at = null, receiver_error = null where org_id = $1 and id = $2',
    [scope.org_id, id],
  )
}
