// Commands on named views.
import { isoTime, type View, type ViewRequest } from '@svc/schemas'
import { changeAs } from '../access/commands/members.js'
import type { Resources, Transaction } from '../db/db.js'
import { newId } from '../db/ids.js'
import { actorText, type Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { operators } from '../http/principal.js'
import { recordEvents } from '../ledger/events.js'
import { assertFilters } from './view-filters.js'
import { countViews, insertView, removeView } from './views-store.js'

/** The maximum number of views of one list: they are shown together. */
const maxViews = 50

/** A view as it is asked for, its filters in one spelling. */
export type WrittenView = Pick<View, 'list' | 'name' | 'query'>

/** Throws INVALID for a wrong filter. */
export function readView({ list, name, query }: ViewRequest): WrittenView {
  return { list, name, query: assertFilters(list, query) }
}

/** Makes a view. Rejects with INVALID for a wrong filter, and with CONFLICT for a name in use or too many views. */
export async function createView(parts: Resources, scope: Scope, request: ViewRequest): Promise<View> {
  const written = readView(request)
  return changeAs(parts, scope, operators, (tx, { now }) => createViewIn(scope, tx, now, written))
}

/** The same within a transaction of `changeAs`. */
export async function createViewIn(scope: Scope, tx: Transaction, now: number, written: WrittenView): Promise<View> {
  const { list, name, query } = written
  if ((await countViews(scope, tx, { list, name })) > 0)
    throw new PlatformError('CONFLICT', `this list has a view of this name: delete it, or choose another \`name\``)
  await assertFewViews(scope, tx, list)
  const view: View = { id: newId('view', now), ...written, created_by: actorText(scope), created_at: isoTime(now) }
  await insertView(scope, tx, view)
  const subject = { subject_kind: 'view', subject_id: view.id } as const
  await recordEvents(scope, tx, now, [{ kind: 'view.created', ...subject, data: { list, name, query } }])
  return view
}

/** Rejects with CONFLICT where the list has no room for another view after `more` new ones. */
export async function assertFewViews(scope: Scope, tx: Transaction, list: View['list'], more = 0): Promise<void> {
  if ((await countViews(scope, tx, { list })) + more >= maxViews)
    throw new PlatformError('CONFLICT', `this list has ${maxViews} views, the maximum: delete one first`)
}

/** Rejects with NOT_FOUND. */
export async function deleteView(parts: Resources, scope: Scope, id: string): Promise<void> {
  await changeAs(parts, scope, operators, (tx, { now }) => deleteViewIn(scope, tx, now, id))
}

/** The same within a transaction of `changeAs`. */
export async function deleteViewIn(scope: Scope, tx: Transaction, now: number, id: string): Promise<void> {
  const view = await removeView(scope, tx, id)
  if (view === null) throw new PlatformError('NOT_FOUND', 'no view with this id: GET /api/v1/views lists them')
  const { list, name } = view
  const subject = { subject_kind: 'view', subject_id: id } as const
  await recordEvents(scope, tx, now, [{ kind: 'view.deleted', ...subject, data: { list, name } }])
}
