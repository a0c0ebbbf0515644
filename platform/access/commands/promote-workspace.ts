// A personal workspace becomes one that can be shared (docs/design/platform.md §4).

import { type Resources, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { recordEvents } from '../../ledger/events.js'
import { renameWorkspace } from '../store/members.js'
import { readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { makeWorkspace } from './make-workspace.js'
import { actAs } from './members.js'

/** Shared workspaces of one person: each has a log of its own, which is signed for hourly. */
const mostOwned = 20

/** Everything in it stays, and its owner gets a fresh personal one. Rejects with INVALID_TRANSITION for one that is shared. */
export async function promote({ db, clock }: Resources, scope: Scope, person_id: string, name: string): Promise<void> {
  const now = clock()
  // Two workspaces in one transaction, so that nobody is ever without one of their own.
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    const { kind } = await actAs(scope, tx, ['owner'])
    if (kind !== 'personal')
      throw new PlatformError('INVALID_TRANSITION', 'the workspace is `shared`, and cannot be promoted again')
    const own = (await workspacesOfUnscoped(tx, person_id)).filter(({ role }) => role === 'owner')
    if (own.length > mostOwned)
      throw new PlatformError(
        'CONFLICT',
        `nobody owns more than ${mostOwned} shared workspaces: hand one over, or leave one`,
      )
    await renameWorkspace(scope, tx, { name, kind: 'shared' })
    const event = { kind: 'workspace.promoted', subject_kind: 'workspace', subject_id: scope.org_id, data: { name } }
    await recordEvents(scope, tx, now, [event])
    const person = await readPersonUnscoped(tx, person_id)
    await makeWorkspace(tx, now, `${person?.name ?? 'My'}'s workspace`, person_id)
  })
}
