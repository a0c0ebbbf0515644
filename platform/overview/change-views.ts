// Commands on named views.
import { isoTime, type View, type ViewRequest } from '@svc/schemas'
import { changeAs } from '../access/commands/members.js'
import type { Resources } from '../db/db.js'
import { newId } from '../db/ids.js'
import { actorText, type Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { operators } from '../http/principal.js'
import { recordEvents } from '../ledger/events.js'
import { assertFilters } from './view-filters.js'
import { countViews, insertView, removeView } from './views-store.js'

/** The maximum number of views of one list: they are shown together. */
const maxViews = 50

/** Makes a view. Rejects with INVALID for a wrong filter, and with CONFLICT for a name in use or too many views. */
export async function createView(parts: Resources, scope: Scope, request: ViewRequest): Promise<View> {
  const { list, name } = request
  const query = assertFilters(list, request.query)
  return changeAs(parts, scope, operators, async (tx, { now }) => {
    if ((await countViews(scope, tx, { list, name })) > 0)
      throw new PlatformError('CONFLICT', `this list has a view of this name: delete it, or choose another \`name\``)
    if ((await countViews(scope, tx, { list })) >= maxViews)
      throw new PlatformError('CONFLICT', `this list has ${maxViews} views, the maximum: delete one first`)
    const view: View = {
      id: newId('view', now),
      list,
      name,
      query,
      created_by: actorText(scope),
      created_at: isoTime(now),
    }
    await insertView(scope, tx, view)
    const subject = { subject_kind: 'view', subject_id: view.id } as const
    await recordEvents(scope, tx, now, [{ kind: 'view.created', ...subject, data: { list, name, query } }])
    return view
  })
}

/** Rejects with NOT_FOUND. */
export async function deleteView(parts: Resources, scope: Scope, id: string): Promise<void> {
  await changeAs(parts, scope, operators, async (tx, { now }) => {
    const view = await removeView(scope, tx, id)
    if (view === null) throw new PlatformError('NOT_FOUND', 'no view with this id: GET /api/v1/views lists them')
    const { list, name } = view
    const subject = { subject_kind: 'view', subject_id: id } as const
    await recordEvents(scope, tx, now, [{ kind: 'view.deleted', ...subject, data: { list, name } }])
  })
}
