// Legal holds: held tasks are neither erased nor pruned until the hold is released.
import type { Hold } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { insertRows, utc } from '../../../db/sql.js'
import { PlatformError } from '../../../errors.js'

const holdColumns = `id, task_id, reason, placed_by, ${utc('placed_at')}, released_by, ${utc('released_at')}`
const types = {
  org_id: 'text',
  id: 'text',
  task_id: 'text',
  reason: 'text',
  placed_by: 'text',
  placed_at: 'timestamptz',
} as const

export async function insertHold(scope: Scope, tx: Transaction, hold: Hold): Promise<void> {
  const { id, task_id, reason, placed_by, placed_at } = hold
  await tx.query(
    insertRows('holds', types),
    [scope.org_id, id, task_id, reason, placed_by, placed_at].map((value) => [value]),
  )
}

/** Releases a hold; null when no active hold has this id. */
export async function releaseHold(
  scope: Scope,
  tx: Transaction,
  id: string,
  by: string,
  at: string,
): Promise<Hold | null> {
  const [hold] = await tx.query<Hold>(
    `update holds set released_by = $3, released_at = $4 where org_id = $1 and id = $2 and released_at is null
     returning ${holdColumns}`,
    [scope.org_id, id, by, at],
  )
  return hold ?? null
}

/** True if a hold with this id exists, active or released. */
export async function isHold(scope: Scope, tx: Transaction, id: string): Promise<boolean> {
  return (await tx.query('select 1 from holds where org_id = $1 and id = $2', [scope.org_id, id])).length > 0
}

/** The held tasks; `all` when a hold covers everything. */
export async function heldTasks(
  scope: Scope,
  tx: Transaction,
): Promise<{ readonly all: boolean; readonly tasks: string[] }> {
  const rows = await tx.query<{ task_id: string | null }>(
    'select distinct task_id from holds where org_id = $1 and released_at is null',
    [scope.org_id],
  )
  const tasks = rows.map(({ task_id }) => task_id).filter((task_id) => task_id !== null)
  return { all: tasks.length < rows.length, tasks }
}

/** Rejects with CONFLICT when one of these tasks is held. The log must be locked. */
export async function assertNotHeld(scope: Scope, tx: Transaction, task_ids: readonly string[]): Promise<void> {
  const { all, tasks } = await heldTasks(scope, tx)
  const held = tasks.find((task_id) => task_ids.includes(task_id))
  if (!all && held === undefined) return
  const subject = all ? 'the whole log' : `task \`${held}\``
  throw new PlatformError('CONFLICT', `${subject} is on hold: release the hold first, see /api/v1/holds`)
}

export async function listHolds(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Hold>> {
  const holds = rowsOf(scope, 'holds').where(equal({ task_id: filter.task_id }))
  if (filter.on !== undefined) holds.whereRaw('(released_at is null) = ?', [filter.on])
  return page<Hold>(tx, holds, { columns: holdColumns, key: 'id', newest_first: true }, at)
}
