// Going out of a workspace, by oneself or by others.

import { type Resources, type Transaction, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { Role } from '../../http/principal.js'
import { admins } from '../../http/principal.js'
import { acceptedSuccessors, deleteMember, lockMembership, revokeOffersTo } from '../store/members.js'
import { findPersonUnscoped, readPersonUnscoped } from '../store/people.js'
import { type Addressee, handOver } from './decide-offer.js'
import { actAs, noteMember, other } from './members.js'
import { endOffersOf } from './offer-moves.js'

const everybody: readonly Role[] = ['owner', 'admin', 'member', 'auditor']

/** Takes somebody out of the workspace. */
export async function removeMember({ db, clock }: Resources, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    await other(scope, tx, person_id)
    await goes(scope, tx, now, person_id)
    await noteMember(scope, tx, now, 'member.removed', person_id, {})
  })
}

/** Leaves. The owner only where somebody has agreed to follow: the last way in is never removed. */
export async function leave({ db, clock }: Resources, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    const { role, kind } = await actAs(scope, tx, everybody)
    if (kind === 'personal')
      throw new PlatformError('CONFLICT', 'this is your personal workspace: nobody else could open it')
    if (role === 'owner') await giveToSuccessor(scope, tx, now, person_id)
    await goes(scope, tx, now, person_id)
    await noteMember(scope, tx, now, 'member.left', person_id, {})
  })
}

async function goes(scope: Scope, tx: Transaction, now: number, person_id: string): Promise<void> {
  const person = await readPersonUnscoped(tx, person_id)
  await removeFrom(scope, tx, now, { person_id, email: person?.email ?? '' })
}

/** Removes a member, with what was offered to them and by them. */
export async function removeFrom(scope: Scope, tx: Transaction, now: number, { person_id, email }: Addressee) {
  await deleteMember(scope, tx, person_id)
  await revokeOffersTo(scope, tx, email, new Date(now).toISOString())
  await endOffersOf(scope, tx, now, person_id, null)
}

/** Rejects with CONFLICT where no successor has accepted. */
async function giveToSuccessor(scope: Scope, tx: Transaction, now: number, owner: string): Promise<void> {
  const successor = await successorOf(scope, tx, owner)
  if (successor === null)
    throw new PlatformError('CONFLICT', 'hand the workspace over first, or name a successor who accepts')
  await handOver(scope, tx, now, successor)
  await noteMember(scope, tx, now, 'member.became', successor.person_id, { role: 'owner' })
}

/** The successor who accepted last and can take over now; null where there is none. */
export async function successorOf(scope: Scope, tx: Transaction, owner: string): Promise<Addressee | null> {
  for (const email of await acceptedSuccessors(scope, tx, owner)) {
    const successor = await findPersonUnscoped(tx, email)
    const member = successor === null ? null : await lockMembership(scope, tx, successor.person_id)
    if (successor !== null && member !== null && !member.is_suspended) return successor
  }
  return null
}
