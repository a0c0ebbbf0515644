// Makes and revokes offers: invitations, role offers, ownership transfers and successors.

import { randomBytes } from 'node:crypto'
import { isoTime, type Offer, type OfferRequest } from '@svc/schemas'
import { type Transaction, withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { addressOf, mailboxOf } from '../../mail/address.js'
import type { AccessParts } from '../parts.js'
import { setInvitationLink } from '../store/invitations.js'
import { insertOffer, lockMembership, lockWorkspace } from '../store/members.js'
import { findPersonUnscoped, type Person, readPersonUnscoped } from '../store/people.js'
import { actAs } from './members.js'
import { moveOffer, noteOffer, offerKinds, readOffer, tooLate } from './offer-moves.js'

const weekMs = 7 * 86_400_000

/** Makes an offer. Rejects with FORBIDDEN, NOT_FOUND for an address that is not a member, and CONFLICT. */
export async function makeOffer(parts: AccessParts, scope: Scope, request: OfferRequest): Promise<Offer> {
  const now = parts.clock()
  const kind = offerKinds[request.kind]
  const email = addressOf(request.email)
  const secret = randomBytes(32).toString('base64url')
  const [person, sender] = await withUnscopedTransaction(parts.db, async (tx) => [
    await findPersonUnscoped(tx, email),
    await readPersonUnscoped(tx, scope.actor.id),
  ])
  const offer = await withTransaction(parts.db, scope, async (tx) => {
    await assertOfferable(scope, tx, request, person)
    const made = {
      id: newId('off', now),
      kind: request.kind,
      email,
      role: kind.role ?? request.role ?? 'member',
      state: 'pending',
      made_by: scope.actor.id,
      made_at: isoTime(now),
      expires_at: isoTime(now + weekMs),
      decided_at: null,
    } as const
    // Rejected requests do not count against the limits.
    parts.limits.by_inviter.take(scope.actor.id)
    parts.limits.by_offered.take(`${scope.org_id} ${mailboxOf(email)}`)
    if (!(await insertOffer(scope, tx, made)))
      throw new PlatformError('CONFLICT', 'the same offer to this address is already pending')
    if (made.kind === 'invitation') await setInvitationLink(scope, tx, made.id, secret)
    await noteOffer(scope, tx, now, 'offer.made', made)
    return readOffer(scope, tx, made.id)
  })
  await sendOffer(parts, offer, secret, sender?.email ?? 'A member')
  return offer
}

/** Rejects with FORBIDDEN, NOT_FOUND or CONFLICT where this cannot be offered to the person. */
async function assertOfferable(scope: Scope, tx: Transaction, request: OfferRequest, person: Person | null) {
  const { by, to, role } = offerKinds[request.kind]
  const workspace = await actAs(scope, tx, by)
  if (workspace.kind === 'personal')
    throw new PlatformError('CONFLICT', 'this is a personal workspace: promote it to share it')
  const member = person === null ? null : await lockMembership(scope, tx, person.person_id)
  if (to === 'member' && member === null) throw new PlatformError('NOT_FOUND', 'no member has this address')
  if (to === 'address' && member !== null) throw new PlatformError('CONFLICT', 'a member has this address')
  if (member?.role === 'owner' || (role !== null && member?.role === role))
    throw new PlatformError('CONFLICT', `this member is already ${member?.role}`)
}

/** Sends the mail. An offer whose mail is not sent stays valid: the recipient finds it on the account page. */
async function sendOffer({ limits, url, mailer, logger }: AccessParts, offer: Offer, secret: string, made_by: string) {
  const { id, kind, email, workspace } = offer
  // This limit counts the mails of all workspaces to one mailbox.
  if (!limits.by_mailbox_offers.has(mailboxOf(email))) return
  const link = kind === 'invitation' ? `${url()}/auth/invitation?token=${secret}` : url()
  const values = { workspace, purpose: offerKinds[kind].purpose, made_by, link }
  const name = kind === 'invitation' ? 'invitation' : 'offer'
  await mailer.send({ to: email, name, values }).catch((error: unknown) => {
    logger.warn({ err: error, offer: id }, 'the mail about an offer could not be sent')
  })
}

/** Revokes a pending offer or an accepted successor. */
export async function revokeOffer({ db, clock }: AccessParts, scope: Scope, id: string): Promise<Offer> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    // The workspace is locked before its rows, as everywhere: another order could deadlock.
    await lockWorkspace(scope, tx)
    const offer = await readOffer(scope, tx, id)
    await actAs(scope, tx, offerKinds[offer.kind].by)
    if (offer.state === 'accepted' && offer.kind !== 'successor') throw tooLate(offer, 'revoke')
    await moveOffer(scope, tx, now, id, 'revoke')
    return readOffer(scope, tx, id)
  })
}
