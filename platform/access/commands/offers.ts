// Offering something in a workspace, and taking it back: an invitation, the role of an admin, ownership now or later.

import { randomBytes } from 'node:crypto'
import type { Offer, OfferRequest } from '@svc/schemas'
import { withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { addressOf, mailboxOf } from '../../mail/address.js'
import type { AccessParts } from '../parts.js'
import { setInvitationLink } from '../store/invitations.js'
import { insertOffer, lockMembership, lockOffer, workspaceKind } from '../store/members.js'
import { findPersonUnscoped, readPersonUnscoped } from '../store/people.js'
import { actAs } from './members.js'
import { moveOffer, noteOffer, notNow, offerKinds } from './offer-moves.js'

const week = 7 * 86_400_000

/** Offers something. Rejects with FORBIDDEN, NOT_FOUND for an address that is no member, and CONFLICT when it is offered already. */
export async function makeOffer(parts: AccessParts, scope: Scope, request: OfferRequest): Promise<Offer> {
  const now = parts.clock()
  const kind = offerKinds[request.kind]
  const email = addressOf(request.email)
  const secret = randomBytes(32).toString('base64url')
  const [person, maker] = await withUnscopedTransaction(parts.db, async (tx) => [
    await findPersonUnscoped(tx, email),
    await readPersonUnscoped(tx, scope.actor.id),
  ])
  const offer = await withTransaction(parts.db, scope, async (tx) => {
    const workspace = await actAs(scope, tx, kind.by)
    if (workspace.kind === 'personal')
      throw new PlatformError('CONFLICT', 'this is a personal workspace: promote it to share it')
    const member = person === null ? null : await lockMembership(scope, tx, person.person_id)
    if (kind.to === 'member' && member === null) throw new PlatformError('NOT_FOUND', 'no member has this address')
    if (kind.to === 'address' && member !== null)
      throw new PlatformError('CONFLICT', 'whoever has this address is a member')
    if (member?.role === 'owner' || (kind.role !== null && member?.role === kind.role))
      throw new PlatformError('CONFLICT', `this member is ${member?.role} already`)
    const made = {
      ...{ id: newId('off', now), kind: request.kind, email, role: kind.role ?? request.role ?? 'member' },
      ...{ state: 'pending' as const, made_by: scope.actor.id, made_at: new Date(now).toISOString() },
      ...{ expires_at: new Date(now + week).toISOString(), decided_at: null },
    }
    // Only what is sent counts, so that nobody runs out by mistakes.
    parts.limits.by_inviter.take(scope.actor.id)
    parts.limits.by_offered.take(`${scope.org_id} ${mailboxOf(email)}`)
    if (!(await insertOffer(scope, tx, made)))
      throw new PlatformError('CONFLICT', 'this is offered to that address already')
    if (made.kind === 'invitation') await setInvitationLink(scope, tx, made.id, secret)
    await noteOffer(scope, tx, now, 'offer.made', made)
    return (await lockOffer(scope, tx, made.id)) as Offer
  })
  // Beyond what one mailbox is sent by everybody together, it is told of nothing more: the offer stands all the same.
  if (!parts.limits.by_mailbox_offers.has(mailboxOf(email))) return offer
  const link = offer.kind === 'invitation' ? `${parts.url()}/auth/invitation?token=${secret}` : parts.url()
  const values = { workspace: offer.workspace, what: kind.words, made_by: maker?.email ?? 'A member', link }
  const name = offer.kind === 'invitation' ? 'invitation' : 'offer'
  await parts.mailer.send({ to: email, name, values }).catch((error: unknown) => {
    parts.logger.warn({ err: error, offer: offer.id }, 'the mail about an offer could not be sent')
  })
  return offer
}

/** Takes an offer back, also a successor's who has accepted. */
export async function revokeOffer({ db, clock }: AccessParts, scope: Scope, id: string): Promise<Offer> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    // The workspace first, as everywhere: two that wait for each other would wait for ever.
    await workspaceKind(scope, tx)
    const known = await lockOffer(scope, tx, id)
    if (known === null) throw new PlatformError('NOT_FOUND', 'no such offer')
    await actAs(scope, tx, offerKinds[known.kind].by)
    if (known.state === 'accepted' && known.kind !== 'successor') throw notNow(known, 'revoke')
    await moveOffer(scope, tx, now, id, 'revoke')
    return (await lockOffer(scope, tx, id)) as Offer
  })
}
