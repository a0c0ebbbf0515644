// The kinds of offers and their transitions (docs/design/platform.md §4). The code and docs/access.md follow these two tables.
import { isoTime, type Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalidTransition, PlatformError } from '../../errors.js'
import type { Role } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { lockOffer, revokeOffersOf, revokeOffersTo, setOfferState } from '../store/members.js'

interface OfferKind {
  /** The roles that may make it. */
  readonly by: readonly Role[]
  /** An invitation goes to any address, the other kinds to a member. */
  readonly to: 'address' | 'member'
  /** The role of the recipient after acceptance; null where the sender chooses it. */
  readonly role: Role | null
  /** Completes the sentence "you are invited to …" of the mail. */
  readonly purpose: string
}

export const offerKinds: Readonly<Record<Offer['kind'], OfferKind>> = {
  invitation: { by: ['owner', 'admin'], to: 'address', role: null, purpose: 'join a workspace' },
  admin: { by: ['owner', 'admin'], to: 'member', role: 'admin', purpose: 'administer a workspace' },
  transfer: { by: ['owner'], to: 'member', role: 'owner', purpose: 'own a workspace' },
  successor: { by: ['owner'], to: 'member', role: 'owner', purpose: 'own a workspace when its owner leaves' },
}

/** The states from which a move is possible, and the state it leads to. */
export const offerMoves = {
  accept: { from: ['pending'], to: 'accepted' },
  decline: { from: ['pending'], to: 'declined' },
  revoke: { from: ['pending', 'accepted'], to: 'revoked' },
} as const satisfies Record<string, { from: readonly Offer['state'][]; to: Offer['state'] }>

/** The offer, locked until the transaction ends. Rejects with NOT_FOUND. */
export async function readOffer(scope: Scope, tx: Transaction, id: string): Promise<Offer> {
  const offer = await lockOffer(scope, tx, id)
  if (offer === null) throw new PlatformError('NOT_FOUND', 'no such offer')
  return offer
}

/** Moves the offer to another state. Rejects with NOT_FOUND, or INVALID_TRANSITION naming its state. */
export async function moveOffer(
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  move: keyof typeof offerMoves,
): Promise<Offer> {
  const offer = await readOffer(scope, tx, id)
  const { from, to } = offerMoves[move]
  if (!from.some((state) => state === offer.state)) throw tooLate(offer, move)
  await setOfferState(scope, tx, id, to, isoTime(now))
  await noteOffer(scope, tx, now, `offer.${to}`, offer)
  return offer
}

/** INVARIANT (sender's rights): revokes the offers of a member that the new role, or null for no role, does not allow. */
export async function endOffersOf(scope: Scope, tx: Transaction, now: number, made_by: string, role: Role | null) {
  const kinds = (Object.keys(offerKinds) as Offer['kind'][]).filter(
    (kind) => role === null || !offerKinds[kind].by.includes(role),
  )
  await noteOffers(scope, tx, now, 'offer.revoked', await revokeOffersOf(scope, tx, made_by, kinds, isoTime(now)))
}

/** Revokes the pending offers to an address, and the successors that it accepted. */
export async function endOffersTo(scope: Scope, tx: Transaction, now: number, email: string): Promise<void> {
  await noteOffers(scope, tx, now, 'offer.revoked', await revokeOffersTo(scope, tx, email, isoTime(now)))
}

/** INVALID_TRANSITION for a move that the state of the offer does not allow. */
export function tooLate({ state, kind }: Offer, move: keyof typeof offerMoves): PlatformError {
  const from = offerMoves[move].from.filter((one) => one === 'pending' || kind === 'successor')
  return invalidTransition(move, 'an offer', state, from)
}

/** Records an event about an offer. */
export async function noteOffer(scope: Scope, tx: Transaction, now: number, kind: string, offer: NotedOffer) {
  await noteOffers(scope, tx, now, kind, [offer])
}

type NotedOffer = Pick<Offer, 'id' | 'kind' | 'role'>

async function noteOffers(scope: Scope, tx: Transaction, now: number, kind: string, offers: readonly NotedOffer[]) {
  const events = offers.map(({ id, ...data }) => ({
    kind,
    subject_kind: 'offer',
    subject_id: id,
    data: { kind: data.kind, role: data.role },
  }))
  await recordEvents(scope, tx, now, events)
}
