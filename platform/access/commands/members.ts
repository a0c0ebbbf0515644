// Changes the role of a member and suspends members.

import { isoTime } from '@svc/schemas'
import { type Resources, type Transaction, withTransaction, withUnscopedTransactionOf } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { onlyFor, PlatformError } from '../../errors.js'
import { admins, type Role } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { lockMembership, lockWorkspace, type Membership, setRole, setSuspended } from '../store/members.js'
import { readPersonUnscoped } from '../store/people.js'
import { endOffersOf, endOffersTo } from './offer-moves.js'

interface Acting {
  readonly role: Role
  /** Of the workspace. */
  readonly kind: 'personal' | 'shared' | null
}

/**
 * INVARIANT (rights are read where they are used): locks the workspace, so that its members do not change until the transaction
 * ends, and then checks the role of the caller. Rejects with FORBIDDEN.
 */
export async function actAs(scope: Scope, tx: Transaction, roles: readonly Role[]): Promise<Acting> {
  const kind = await lockWorkspace(scope, tx)
  const member = await lockMembership(scope, tx, scope.actor.id)
  if (member !== null && !member.is_suspended && roles.includes(member.role)) return { role: member.role, kind }
  throw onlyFor(roles, member?.role ?? null)
}

/** Checks again that a person has one of these roles; API keys and the operator were checked before. Rejects with FORBIDDEN. */
export async function assertStillAllowed(scope: Scope, tx: Transaction, roles: readonly Role[]): Promise<void> {
  if (scope.actor.kind === 'person') await actAs(scope, tx, roles)
}

/** Changes the workspace under the lock of its log, by a caller who still has one of these roles. Rejects with FORBIDDEN. */
export function changeAs<T>(
  { db, clock }: Resources,
  scope: Scope,
  roles: readonly Role[],
  change: (tx: Transaction, moment: Moment) => Promise<T>,
): Promise<T> {
  return withTransaction(db, scope, async (tx) => {
    await assertStillAllowed(scope, tx, roles)
    const { size: log_index } = await lockLog(scope, tx)
    return change(tx, { now: clock(), log_index })
  })
}

/** Locks another member for a change. Rejects with NOT_FOUND, and with CONFLICT for the owner. */
export async function lockOther(scope: Scope, tx: Transaction, person_id: string): Promise<Membership> {
  const member = await lockMembership(scope, tx, person_id)
  if (member === null) throw new PlatformError('NOT_FOUND', 'no such member')
  if (member.role === 'owner')
    throw new PlatformError(
      'CONFLICT',
      'the owner cannot be changed by other members: only the owner can transfer the ownership',
    )
  return member
}

/** Sets the role `member` or `auditor`; the member may be an admin. The role `admin` needs an offer. */
export async function changeRole(
  { db, clock }: Resources,
  scope: Scope,
  person_id: string,
  role: 'member' | 'auditor',
): Promise<void> {
  // The address of a person, to which offers are made, belongs to no workspace.
  await withUnscopedTransactionOf(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const before = await lockOther(scope, tx, person_id)
    if (before.role === role) return
    await setRole(scope, tx, person_id, role)
    await endOffersOf(scope, tx, clock(), person_id, role)
    const person = await readPersonUnscoped(tx, person_id)
    await endOffersTo(scope, tx, clock(), person?.email ?? '')
    await noteChange(scope, tx, clock(), 'member.role_changed', person_id, { from: before.role, to: role })
  })
}

/** Suspends a member or ends the suspension; it takes effect on the member's next request. */
export async function suspend({ db, clock }: Resources, scope: Scope, person_id: string, on: boolean): Promise<void> {
  const now = clock()
  await withTransaction(db, scope, async (tx) => {
    await actAs(scope, tx, admins)
    const member = await lockOther(scope, tx, person_id)
    if (person_id === scope.actor.id) throw new PlatformError('CONFLICT', 'you cannot suspend yourself')
    if (member.is_suspended === on) return
    await setSuspended(scope, tx, person_id, on ? isoTime(now) : null)
    if (on) await endOffersOf(scope, tx, now, person_id, null)
    await noteChange(scope, tx, now, on ? 'member.suspended' : 'member.unsuspended', person_id, {})
  })
}

/** Records an event about a subject of the kind before the dot, such as `member` or `api_key`. */
export async function noteChange(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  subject_id: string,
  data: Record<string, unknown>,
) {
  await recordEvents(scope, tx, now, [{ kind, subject_kind: kind.split('.')[0] ?? '', subject_id, data }])
}
