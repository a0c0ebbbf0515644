// Named views: filters of a list that the members of a workspace share.
import type { View } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import { equal, raw, read, rowsOf, total } from '../db/list.js'
import type { Scope } from '../db/scope.js'
import { utc } from '../db/sql.js'

const columns = `id, list, name, query, created_by, ${utc('created_at')}`

/** By list and name; those of one list, if it is given. They are few. */
export function listViews(scope: Scope, tx: Transaction, list?: string): Promise<View[]> {
  const views = rowsOf(scope, 'list_views').where(equal({ list })).orderBy('list').orderBy('name')
  return read<View>(tx, views.select(raw(columns)))
}

export function countViews(scope: Scope, tx: Transaction, filter: { list: string; name?: string }): Promise<number> {
  return total(tx, rowsOf(scope, 'list_views').where(equal(filter)))
}

export async function insertView({ org_id }: Scope, tx: Transaction, view: View): Promise<void> {
  const { id, list, name, query, created_by, created_at } = view
  await tx.query(
    'insert into list_views (org_id, id, list, name, query, created_by, created_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [org_id, id, list, name, query, created_by, created_at],
  )
}

/** Deletes a view and returns it; null when it does not exist. */
export async function removeView({ org_id }: Scope, tx: Transaction, id: string): Promise<View | null> {
  const [view] = await tx.query<View>(`delete from list_views where org_id = $1 and id = $2 returning ${columns}`, [
    org_id,
    id,
  ])
  return view ?? null
}
