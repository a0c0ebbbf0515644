// Turns a personal workspace into a shared one (docs/design/platform.md §4).

import { type Resources, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalidTransition, PlatformError } from '../../errors.js'
import { recordEvents } from '../../ledger/events.js'
import { renameWorkspace } from '../store/members.js'
import { readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { makeWorkspace, type StartWorkspace } from './make-workspace.js'
import { actAs } from './members.js'

/** The maximum number of shared workspaces that one person owns: each has its own log with signed checkpoints. */
const maxOwned = 20

type PromotionParts = Resources & { readonly startWorkspace: StartWorkspace }

/** Keeps the content of the workspace, and creates a new personal one. Rejects with INVALID_TRANSITION for a shared workspace. */
export async function promote(
  { db, clock, startWorkspace }: PromotionParts,
  scope: Scope,
  person_id: string,
  name: string,
): Promise<void> {
  const now = clock()
  // One transaction changes both workspaces, so that the person always has a personal one.
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    const { kind } = await actAs(scope, tx, ['owner'])
    if (kind !== 'personal') throw invalidTransition('promote', 'a workspace', kind ?? 'closed', ['personal'])
    const own = (await workspacesOfUnscoped(tx, person_id)).filter(({ role }) => role === 'owner')
    if (own.length > maxOwned)
      throw new PlatformError(
        'CONFLICT',
        `you own ${maxOwned} shared workspaces, which is the limit: transfer or leave one first`,
      )
    await renameWorkspace(scope, tx, { name, kind: 'shared' })
    const event = { kind: 'workspace.promoted', subject_kind: 'workspace', subject_id: scope.org_id, data: { name } }
    await recordEvents(scope, tx, now, [event])
    const person = await readPersonUnscoped(tx, person_id)
    await makeWorkspace(tx, now, `${person?.name ?? 'My'}'s workspace`, person_id, startWorkspace)
  })
}
