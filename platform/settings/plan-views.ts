// What the views of a document would do to those of a workspace. They are matched by list and name.
import type { ViewRequest } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { assertFewViews, createViewIn, deleteViewIn, readView } from '../overview/change-views.js'
import { listViews } from '../overview/views-store.js'
import type { ReadDocument, Rejections } from './read-document.js'
import { changed, created, left, type PlanPart, type Step, twice } from './steps.js'

type Named = Pick<ViewRequest, 'list' | 'name'>

const isSame = (one: Named) => (other: Named) => one.list === other.list && one.name === other.name

export async function planViews(
  scope: Scope,
  tx: Transaction,
  { document: { views = [] }, lineOf }: ReadDocument,
  rejections: Rejections,
): Promise<PlanPart> {
  const known = await listViews(scope, tx)
  const steps: Step[] = []
  for (const [index, request] of views.entries()) {
    const path = `views.${index}`
    const { list, name } = request
    const first = views.findIndex(isSame(request))
    if (first < index) {
      rejections.add(`${path}.name`, twice(`view of \`${list}\``, lineOf(`views.${first}`), lineOf(path)))
      continue
    }
    const before = known.find(isSame(request))
    const written = await rejections.within(path, async () => {
      const more = steps.filter(({ change }) => change.list === list && change.change === 'create').length
      if (before === undefined) await assertFewViews(scope, tx, list, more)
      return readView(request)
    })
    if (written === null || before?.query === written.query) continue
    const members = [{ name: 'query', from: before?.query ?? null, to: written.query }]
    steps.push({
      change: (before === undefined ? created : changed)({ kind: 'view', name, list }, members),
      run: async (write, now) => {
        if (before !== undefined) await deleteViewIn(scope, write, now, before.id)
        await createViewIn(scope, write, now, written)
        return null
      },
    })
  }
  const others = known.filter((view) => !views.some(isSame(view)))
  const left_alone = others.map(({ name, list }) => left({ kind: 'view', name, list }))
  return { steps, left_alone, unchanged: views.length - steps.length }
}
