// What happens to members of a workspace besides offers: another role, and suspension.

import { type Resources, type Transaction, withTransaction, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { onlyFor, PlatformError } from '../../errors.js'
import { admins, type Role } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import {
  lockMembership,
  type Membership,
  revokeOffersTo,
  setRole,
  setSuspended,
  workspaceKind,
} from '../store/members.js'
import { readPersonUnscoped } from '../store/people.js'
import { endOffersOf } from './offer-moves.js'

export interface Acting {
  readonly role: Role
  /** Of the workspace. */
  readonly kind: 'personal' | 'shared' | null
}

/**
 * INVARIANT (rights are read where they are used): locks the workspace, so that nothing about its members changes until the
 * transaction ends, and only then looks what whoever acts may do. Rejects with FORBIDDEN.
 */
export async function actAs(scope: Scope, tx: Transaction, roles: readonly Role[]): Promise<Acting> {
  const kind = await workspaceKind(scope, tx)
  const member = await lockMembership(scope, tx, scope.actor.id)
  if (member !== null && !member.is_suspended && roles.includes(member.role)) return { role: member.role, kind }
  throw onlyFor(roles, member?.role ?? null)
}

/** The same for what others than people may do as well: only somebody who has lost the right meanwhile is refused. */
export async function stillMay(scope: Scope, tx: Transaction, roles: readonly Role[]): Promise<void> {
  if (scope.actor.kind === 'person') await actAs(scope, tx, roles)
}

/** Somebody whom others may act upon. Rejects with NOT_FOUND; CONFLICT for the owner, whom nobody but they themselves can change. */
export async function other(scope: Scope, tx: Transaction, person_id: string): Promise<Membership> {
  const member = await lockMembership(scope, tx, person_id)
  if (member === null) throw new PlatformError('NOT_FOUND', 'no such member')
  if (member.role === 'owner')
    throw new PlatformError('CONFLICT', 'nobody can do this to the owner: ownership is handed over by the owner')
  return member
}

/** Gives a lesser role; admin is offered. An admin may step down themselves. */
export async function changeRole(
  { db, clock }: Resources,
  scope: Scope,
  person_id: string,
  role: 'member' | 'auditor',
): Promise<void> {
  // People are known by address across workspaces, and their offers are theirs by it.
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const before = await other(scope, tx, person_id)
    if (before.role === role) return
    await setRole(scope, tx, person_id, role)
    await endOffersOf(scope, tx, clock(), person_id, role)
    const person = await readPersonUnscoped(tx, person_id)
    await revokeOffersTo(scope, tx, person?.email ?? '', new Date(clock()).toISOString())
    await noteMember(scope, tx, clock(), 'member.role_changed', person_id, { from: before.role, to: role })
  })
}

/** Suspends or lets back in; effective on the member's next request. */
export async function suspend({ db, clock }: Resources, scope: Scope, person_id: string, on: boolean): Promise<void> {
  const now = clock()
  await withTransaction(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const member = await other(scope, tx, person_id)
    if (person_id === scope.actor.id) throw new PlatformError('CONFLICT', 'nobody can suspend themselves')
    if (member.is_suspended === on) return
    await setSuspended(scope, tx, person_id, on ? new Date(now).toISOString() : null)
    if (on) await endOffersOf(scope, tx, now, person_id, null)
    await noteMember(scope, tx, now, on ? 'member.suspended' : 'member.unsuspended', person_id, {})
  })
}

/** Says in the audit trail what happened to a member. */
export async function noteMember(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  subject_id: string,
  data: Record<string, unknown>,
) {
  await recordEvents(scope, tx, now, [{ kind, subject_kind: kind.split('.')[0] ?? '', subject_id, data }])
}
