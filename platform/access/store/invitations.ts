// The links of invitations. The secret of a link is stored only as its SHA-256.
import type { Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { secretHash } from '../../secrets/secret-hash.js'
import { fromOffers, offerColumns } from './members.js'

/** Stores the link of the invitation. */
export async function setInvitationLink(scope: Scope, tx: Transaction, id: string, secret: string): Promise<void> {
  await tx.query('update offers set link_hash = $3 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    secretHash(secret),
  ])
}

/** The invitation of a link, in any state; null for an unknown link. */
export async function findInvitationUnscoped(tx: Transaction, secret: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.link_hash = $1`, [
    secretHash(secret),
  ])
  return offer ?? null
}
