// Accepts or declines an offer.
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
  lockOwner,
  lockWorkspace,
  type Membership,
  setRole,
} from '../store/members.js'
import { lockPersonUnscoped, type Person } from '../store/people.js'
import { switchWaitlistedUnscoped } from '../store/sessions.js'
import { endOffersOf, endOffersTo, moveOffer, offerKinds, readOffer } from './offer-moves.js'

export type Recipient = Pick<Person, 'person_id' | 'email'>

/** Accepts or declines an offer to this person. Rejects with NOT_FOUND for an offer to another address. */
export async function decideOffer(
  { db, clock }: Resources,
  person: Recipient,
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
  // Accounts and sessions belong to no organization.
  return withUnscopedTransactionOf(db, scope, async (tx) => {
    if ((await lockPersonUnscoped(tx, person.person_id)) === null)
      throw new PlatformError('NOT_FOUND', 'no such account')
    return decideLocked(scope, tx, now, person, id, move)
  })
}

/** Like `decideOffer`, in a transaction that has locked the account: accounts are locked before workspaces. */
export async function decideLocked(
  scope: Scope,
  tx: Transaction,
  now: number,
  person: Recipient,
  id: string,
  move: 'accept' | 'decline',
): Promise<Offer> {
  await lockWorkspace(scope, tx)
  const member = await lockMembership(scope, tx, person.person_id)
  if (member?.is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  const offer = await moveOffer(scope, tx, now, id, move)
  if (move === 'accept') {
    await assertSenderMayOffer(scope, tx, offer)
    await fulfil(scope, tx, now, offer, person, member)
  }
  return readOffer(scope, tx, id)
}

/** INVARIANT (sender's rights): an offer has no effect once its sender has lost the right to make it. */
async function assertSenderMayOffer(scope: Scope, tx: Transaction, { kind, made_by }: Offer): Promise<void> {
  const sender = await lockMembership(scope, tx, made_by)
  if (sender === null || sender.is_suspended || !offerKinds[kind].by.includes(sender.role))
    throw new PlatformError('CONFLICT', 'the sender can no longer make this offer')
}

async function fulfil(
  scope: Scope,
  tx: Transaction,
  now: number,
  { kind, role }: Offer,
  { person_id, email }: Recipient,
  member: Membership | null,
): Promise<void> {
  if (kind === 'invitation') {
    if (member !== null) throw new PlatformError('CONFLICT', 'you are already a member')
    await insertMember(scope, tx, now, person_id, role)
    await switchWaitlistedUnscoped(tx, person_id, scope.org_id)
    return joined(scope, tx, now, person_id, role)
  }
  if (member === null) throw new PlatformError('CONFLICT', 'you are not a member of the workspace')
  if (member.role === 'owner')
    throw new PlatformError('CONFLICT', 'the owner cannot take another role: transfer the ownership first')
  if (kind === 'successor') return
  if (kind === 'transfer') await transferOwnership(scope, tx, now, { person_id, email })
  else await setRole(scope, tx, person_id, role)
  await joined(scope, tx, now, person_id, role)
}

/** INVARIANT (one owner): the owner becomes an admin before another member becomes the owner. */
export async function transferOwnership(
  scope: Scope,
  tx: Transaction,
  now: number,
  { person_id, email }: Recipient,
): Promise<void> {
  await endOffersTo(scope, tx, now, email)
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
