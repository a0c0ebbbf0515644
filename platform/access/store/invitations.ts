// Links of invitations. The secret of a link is stored as its SHA-256 only.
import type { Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { fromOffers, offerColumns } from './members.js'
import { secretHash } from './sessions.js'

/** Gives the invitation its link. */
export async function setInvitationLink(scope: Scope, tx: Transaction, id: string, secret: string): Promise<void> {
  await tx.query('update offers set link_hash = $3 where org_id = $1 and id = $2', [
    ...[scope.org_id, id, secretHash(secret)],
  ])
}

/** The invitation that a link leads to, in whatever state it is; null for a link that leads to none. */
export async function findInvitationUnscoped(tx: Transaction, secret: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.link_hash = $1`, [
    secretHash(secret),
  ])
  return offer ?? null
}
