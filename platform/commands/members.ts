// What happens to members of a workspace besides offers: another role, suspension, leaving.
import { PlatformError } from '../errors.js'
import type { Platform } from '../platform.js'
import { type Transaction, withTransaction, withUnscopedTransaction } from '../store/db.js'
import { recordEvents } from '../store/events.js'
import {
  acceptedSuccessor,
  deleteMember,
  lockMembership,
  type Membership,
  revokeOffersTo,
  setRole,
  setSuspended,
  workspaceKind,
} from '../store/members.js'
import { findPersonUnscoped, type Role, readPersonUnscoped } from '../store/people.js'
import type { Scope } from '../store/scope.js'
import { handOver } from './decide-offer.js'

/**
 * INVARIANT (rights are read where they are used): locks the workspace, so that nothing about its members changes until the
 * transaction ends, and only then looks what whoever acts may do. Rejects with FORBIDDEN.
 */
export async function actAs(scope: Scope, tx: Transaction, roles: readonly Role[]): Promise<Membership> {
  await workspaceKind(scope, tx)
  const member = await lockMembership(scope, tx, scope.actor.id)
  if (member !== null && !member.is_suspended && roles.includes(member.role)) return member
  throw new PlatformError('FORBIDDEN', `this needs one of the roles ${roles.join(', ')}`)
}

const admins: readonly Role[] = ['owner', 'admin']
const everybody: readonly Role[] = ['owner', 'admin', 'member', 'auditor']

/** Somebody whom others may act upon. Rejects with NOT_FOUND; CONFLICT for the owner, whom nobody but they themselves can change. */
async function other(scope: Scope, tx: Transaction, person_id: string): Promise<Membership> {
  const member = await lockMembership(scope, tx, person_id)
  if (member === null) throw new PlatformError('NOT_FOUND', 'no such member')
  if (member.role === 'owner')
    throw new PlatformError('CONFLICT', 'nobody can do this to the owner: ownership is handed over by the owner')
  return member
}

/** Gives a lesser role; admin is offered. An admin may step down themselves. */
export async function changeRole(
  { db, clock }: Platform,
  scope: Scope,
  person_id: string,
  role: 'member' | 'auditor',
): Promise<void> {
  await withTransaction(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const before = await other(scope, tx, person_id)
    if (before.role === role) return
    await setRole(scope, tx, person_id, role)
    await note(scope, tx, clock(), 'member.role_changed', person_id, { from: before.role, to: role })
  })
}

/** Suspends or lets back in; effective on the member's next request. */
export async function suspend({ db, clock }: Platform, scope: Scope, person_id: string, on: boolean): Promise<void> {
  const now = clock()
  await withTransaction(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const member = await other(scope, tx, person_id)
    if (person_id === scope.actor.id) throw new PlatformError('CONFLICT', 'nobody can suspend themselves')
    if (member.is_suspended === on) return
    await setSuspended(scope, tx, person_id, on ? new Date(now).toISOString() : null)
    await note(scope, tx, now, on ? 'member.suspended' : 'member.unsuspended', person_id, {})
  })
}

/** Takes somebody out of the workspace. */
export async function removeMember({ db, clock }: Platform, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransaction(db, async (tx) => {
    await actAs(scope, tx, admins)
    await other(scope, tx, person_id)
    const person = await readPersonUnscoped(tx, person_id)
    await deleteMember(scope, tx, person_id)
    await revokeOffersTo(scope, tx, person?.email ?? '', new Date(now).toISOString())
    await note(scope, tx, now, 'member.removed', person_id, {})
  })
}

/** Leaves. The owner only where somebody has agreed to follow: the last way in is never removed. */
export async function leave({ db, clock }: Platform, scope: Scope, person_id: string): Promise<void> {
  const now = clock()
  await withUnscopedTransaction(db, async (tx) => {
    if ((await workspaceKind(scope, tx)) === 'personal')
      throw new PlatformError('CONFLICT', 'this is your personal workspace: nobody else could open it')
    const { role } = await actAs(scope, tx, everybody)
    if (role === 'owner') await giveToSuccessor(scope, tx, now, person_id)
    const person = await readPersonUnscoped(tx, person_id)
    await deleteMember(scope, tx, person_id)
    await revokeOffersTo(scope, tx, person?.email ?? '', new Date(now).toISOString())
    await note(scope, tx, now, 'member.left', person_id, {})
  })
}

/** Rejects with CONFLICT where nobody has agreed to follow. */
async function giveToSuccessor(scope: Scope, tx: Transaction, now: number, owner: string): Promise<void> {
  const named = await acceptedSuccessor(scope, tx, owner)
  const successor = named === null ? null : await findPersonUnscoped(tx, named.email)
  const next = successor === null ? null : await lockMembership(scope, tx, successor.person_id)
  if (next === null || next.is_suspended)
    throw new PlatformError('CONFLICT', 'hand the workspace over first, or name a successor who accepts')
  await handOver(scope, tx, next.person_id)
  await note(scope, tx, now, 'member.became', next.person_id, { role: 'owner' })
}

async function note(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  subject_id: string,
  data: Record<string, unknown>,
) {
  await recordEvents(scope, tx, now, [{ kind, subject_kind: kind.split('.')[0] ?? '', subject_id, data }])
}
