// Accepting or declining an offer, and what accepting does.
import type { Offer } from '@svc/schemas'
import { type Resources, type Transaction, withUnscopedTransaction, withUnscopedTransactionOf } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { Role } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import {
  expireOffersUnscoped,
  findOfferUnscoped,
  insertMember,
  lockMembership,
  lockOffer,
  lockOwner,
  type Membership,
  revokeOffersTo,
  setRole,
  workspaceKind,
} from '../store/members.js'
import { lockPersonUnscoped, type Person } from '../store/people.js'
import { placeWaitlistedUnscoped } from '../store/sessions.js'
import { endOffersOf, moveOffer, offerKinds } from './offer-moves.js'

export type Addressee = Pick<Person, 'person_id' | 'email'>

/** Decides an offer that was made to this address. Rejects with NOT_FOUND for one that was made to another. */
export async function decideOffer(
  { db, clock }: Resources,
  person: Addressee,
  id: string,
  move: 'accept' | 'decline',
): Promise<Offer> {
  const now = clock()
  const known = await withUnscopedTransaction(db, async (tx) => {
    await expireOffersUnscoped(tx, now)
    return findOfferUnscoped(tx, id)
  })
  if (known === null || known.email !== person.email) throw new PlatformError('NOT_FOUND', 'no such offer')
  const scope = scopeOf(known.org_id, { kind: 'person', id: person.person_id })
  // An account and its sessions belong to no organization.
  return withUnscopedTransactionOf(db, scope, async (tx) => {
    if ((await lockPersonUnscoped(tx, person.person_id)) === null)
      throw new PlatformError('NOT_FOUND', 'no such account')
    return decideLocked(scope, tx, now, person, id, move)
  })
}

/** The same for an account that is locked, in its transaction: accounts are locked before workspaces. */
export async function decideLocked(
  scope: Scope,
  tx: Transaction,
  now: number,
  person: Addressee,
  id: string,
  move: 'accept' | 'decline',
): Promise<Offer> {
  await workspaceKind(scope, tx)
  const member = await lockMembership(scope, tx, person.person_id)
  if (member?.is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  const offer = await moveOffer(scope, tx, now, id, move)
  if (move === 'accept') {
    await refuseStale(scope, tx, offer)
    await fulfil(scope, tx, now, offer, person, member)
  }
  return (await lockOffer(scope, tx, id)) as Offer
}

/** INVARIANT (an offer is worth what its maker may): who has lost the right to make it cannot give anything by it any more. */
async function refuseStale(scope: Scope, tx: Transaction, { kind, made_by }: Offer): Promise<void> {
  const maker = await lockMembership(scope, tx, made_by)
  if (maker === null || maker.is_suspended || !offerKinds[kind].by.includes(maker.role))
    throw new PlatformError('CONFLICT', 'whoever offered this may not offer it any more')
}

async function fulfil(
  scope: Scope,
  tx: Transaction,
  now: number,
  { kind, role }: Offer,
  { person_id, email }: Addressee,
  member: Membership | null,
): Promise<void> {
  if (kind === 'invitation') {
    if (member !== null) throw new PlatformError('CONFLICT', 'you are a member already')
    await insertMember(scope, tx, now, person_id, role)
    await placeWaitlistedUnscoped(tx, person_id, scope.org_id)
    return joined(scope, tx, now, person_id, role)
  }
  if (member === null) throw new PlatformError('CONFLICT', 'whoever accepts this must be a member')
  if (member.role === 'owner') throw new PlatformError('CONFLICT', 'the owner stays the owner until somebody else is')
  if (kind === 'successor') return
  if (kind === 'handover') await handOver(scope, tx, now, { person_id, email })
  else await setRole(scope, tx, person_id, role)
  await joined(scope, tx, now, person_id, role)
}

/** INVARIANT (one owner): the owner becomes an admin before somebody else becomes the owner. */
export async function handOver(
  scope: Scope,
  tx: Transaction,
  now: number,
  { person_id, email }: Addressee,
): Promise<void> {
  await revokeOffersTo(scope, tx, email, new Date(now).toISOString())
  const owner = await lockOwner(scope, tx)
  if (owner !== null) {
    await setRole(scope, tx, owner, 'admin')
    await endOffersOf(scope, tx, now, owner, 'admin')
  }
  await setRole(scope, tx, person_id, 'owner')
}

async function joined(scope: Scope, tx: Transaction, now: number, person_id: string, role: Role): Promise<void> {
  const event = { kind: 'member.became', subject_kind: 'person', subject_id: person_id, data: { role } }
  await recordEvents(scope, tx, now, [event])
}
