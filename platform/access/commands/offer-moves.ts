// What can become of an offer (docs/design/platform.md §4): one table says who may offer what, to whom, and which moves there are; the
// code and its documents follow it.
import type { Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { Role } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { lockOffer, revokeOffersOf, setOfferState } from '../store/members.js'

interface OfferKind {
  /** Who may make it. */
  readonly by: readonly Role[]
  /** An invitation goes to whoever has the address, anything else to a member. */
  readonly to: 'address' | 'member'
  /** What whoever accepts becomes. */
  readonly role: Role | null
  readonly words: string
}

export const offerKinds: Readonly<Record<Offer['kind'], OfferKind>> = {
  invitation: { by: ['owner', 'admin'], to: 'address', role: null, words: 'join a workspace' },
  admin: { by: ['owner', 'admin'], to: 'member', role: 'admin', words: 'administer a workspace' },
  handover: { by: ['owner'], to: 'member', role: 'owner', words: 'own a workspace' },
  successor: { by: ['owner'], to: 'member', role: 'owner', words: 'own a workspace when its owner leaves' },
}

/** From which states each move leads where. */
export const offerMoves = {
  accept: { from: ['pending'], to: 'accepted' },
  decline: { from: ['pending'], to: 'declined' },
  revoke: { from: ['pending', 'accepted'], to: 'revoked' },
} as const satisfies Record<string, { from: readonly Offer['state'][]; to: Offer['state'] }>

/** Moves the offer. Rejects with NOT_FOUND, or INVALID_TRANSITION naming the state it is in. */
export async function moveOffer(
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  move: keyof typeof offerMoves,
): Promise<Offer> {
  const offer = await lockOffer(scope, tx, id)
  if (offer === null) throw new PlatformError('NOT_FOUND', 'no such offer')
  const { from, to } = offerMoves[move]
  if (!from.some((state) => state === offer.state)) throw notNow(offer, move)
  await setOfferState(scope, tx, id, to, new Date(now).toISOString())
  await noteOffer(scope, tx, now, `offer.${to}`, offer)
  return offer
}

/** INVARIANT (an offer is worth what its maker may): ends what somebody has offered and, in this role or none, may not. */
export async function endOffersOf(scope: Scope, tx: Transaction, now: number, made_by: string, role: Role | null) {
  const kinds = (Object.keys(offerKinds) as Offer['kind'][]).filter(
    (kind) => role === null || !offerKinds[kind].by.includes(role),
  )
  await revokeOffersOf(scope, tx, made_by, kinds, new Date(now).toISOString())
}

/** What a move that is not possible answers. */
export function notNow({ state }: Offer, move: string): PlatformError {
  return new PlatformError('INVALID_TRANSITION', `the offer is \`${state}\`: it is too late to ${move} it`)
}

/** Says in the audit trail what became of it. */
export async function noteOffer(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  offer: Pick<Offer, 'id' | 'kind' | 'role'>,
) {
  const data = { kind: offer.kind, role: offer.role }
  await recordEvents(scope, tx, now, [{ kind, subject_kind: 'offer', subject_id: offer.id, data }])
}
