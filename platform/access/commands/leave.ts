// Removes a member from a workspace, at their own or an admin's request.

import { type Resources, type Transaction, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { admins, allRoles } from '../../http/principal.js'
import { acceptedSuccessors, deleteMember, lockMembership } from '../store/members.js'
import { findPersonUnscoped, readPersonUnscoped } from '../store/people.js'
import { leaveSessionsUnscoped } from '../store/sessions.js'
import { type Recipient, transferOwnership } from './decide-offer.js'
import { actAs, lockOther, noteChange } from './members.js'
import { endOffersOf, endOffersTo } from './offer-moves.js'

/** Removes another member from the workspace. Their sessions continue in their personal workspace. */
export async function removeMember({ db, clock }: Resources, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    await lockOther(scope, tx, person_id)
    await removeById(scope, tx, now, person_id)
    await noteChange(scope, tx, now, 'member.removed', person_id, {})
  })
}

/**
 * Leaves the workspace. The owner can leave only when a successor has accepted; the successor becomes the owner.
 * Sessions continue in the personal workspace.
 */
export async function leave({ db, clock }: Resources, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    const { role, kind } = await actAs(scope, tx, allRoles)
    if (kind === 'personal') throw new PlatformError('CONFLICT', 'a personal workspace cannot be left')
    if (role === 'owner') await transferToSuccessor(scope, tx, now, person_id)
    await removeById(scope, tx, now, person_id)
    await noteChange(scope, tx, now, 'member.left', person_id, {})
  })
}

async function removeById(scope: Scope, tx: Transaction, now: number, person_id: string): Promise<void> {
  const person = await readPersonUnscoped(tx, person_id)
  await removeFrom(scope, tx, now, { person_id, email: person?.email ?? '' })
  await leaveSessionsUnscoped(tx, person_id, scope.org_id)
}

/** Removes a member and revokes the offers to them and by them. */
export async function removeFrom(scope: Scope, tx: Transaction, now: number, { person_id, email }: Recipient) {
  await deleteMember(scope, tx, person_id)
  await endOffersTo(scope, tx, now, email)
  await endOffersOf(scope, tx, now, person_id, null)
}

/** Rejects with CONFLICT when no successor has accepted. */
async function transferToSuccessor(scope: Scope, tx: Transaction, now: number, owner: string): Promise<void> {
  const successor = await successorOf(scope, tx, owner)
  if (successor === null)
    throw new PlatformError('CONFLICT', 'transfer the ownership first, or name a successor who accepts')
  await transferOwnership(scope, tx, now, successor)
  await noteChange(scope, tx, now, 'member.became', successor.person_id, { role: 'owner' })
}

/** The active member who accepted last to be the successor of this owner; null without one. */
export async function successorOf(scope: Scope, tx: Transaction, owner: string): Promise<Recipient | null> {
  for (const email of await acceptedSuccessors(scope, tx, owner)) {
    const successor = await findPersonUnscoped(tx, email)
    const member = successor === null ? null : await lockMembership(scope, tx, successor.person_id)
    if (successor !== null && member !== null && !member.is_suspended) return successor
  }
  return null
}
