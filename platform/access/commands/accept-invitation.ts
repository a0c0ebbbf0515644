// Accepts an invitation by the link in its mail. The mail proves the address, so the link signs in as well.

import type { Offer, SessionTokens } from '@svc/schemas'
import { withUnscopedTransaction, withUnscopedTransactionOf } from '../../db/db.js'
import { scopeOf } from '../../db/scope.js'
import type { AccessParts } from '../parts.js'
import { unauthenticated } from '../permission.js'
import { findInvitationUnscoped } from '../store/invitations.js'
import { expireOffersUnscoped } from '../store/members.js'
import { findPersonUnscoped, lockPersonUnscoped } from '../store/people.js'
import { decideLocked } from './decide-offer.js'
import { beginSession, tokensOf } from './sign-in.js'
import { signUp } from './sign-up.js'

/** The invitation of a link in its current state; null for an unknown link. */
export function readInvitation({ db, clock }: AccessParts, secret: string): Promise<Offer | null> {
  return withUnscopedTransaction(db, async (tx) => {
    await expireOffersUnscoped(tx, clock())
    return findInvitationUnscoped(tx, secret)
  })
}

/**
 * Accepts the invitation and signs in its address, with a session in the workspace; an address without an account gets one.
 * Rejects with UNAUTHENTICATED for an unknown link, and with INVALID_TRANSITION for an invitation that is not pending.
 */
export async function acceptInvitation(parts: AccessParts, secret: string): Promise<SessionTokens> {
  parts.access_tokens.require()
  const now = parts.clock()
  const invitation = await readInvitation(parts, secret)
  if (invitation === null) throw unauthenticated('the link is invalid: ask for another invitation')
  const { org_id, id, email } = invitation
  const recipient = scopeOf(org_id, { kind: 'system', id: 'invitation' })
  const session = await withUnscopedTransactionOf(parts.db, recipient, async (tx) => {
    const known = await findPersonUnscoped(tx, email)
    const locked = known === null ? null : await lockPersonUnscoped(tx, known.person_id)
    const person = locked ?? (await signUp(parts, tx, now, email))
    const scope = scopeOf(org_id, { kind: 'person', id: person.person_id })
    await decideLocked(scope, tx, now, person, id, 'accept')
    return beginSession(tx, now, person, org_id)
  })
  return tokensOf(parts, session)
}
