// The members of a workspace and its offers.
import { isoTime, type Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { rowsOf, total } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import type { Role } from '../../http/principal.js'

export interface Membership {
  readonly person_id: string
  readonly role: Role
  readonly is_suspended: boolean
}

/** The membership, locked until the transaction ends; null when the person is not a member. */
export async function lockMembership(scope: Scope, tx: Transaction, person_id: string): Promise<Membership | null> {
  const [row] = await tx.query<Membership>(
    `select person_id, role, suspended_at is not null as is_suspended from memberships
     where org_id = $1 and person_id = $2 for update`,
    [scope.org_id, person_id],
  )
  return row ?? null
}

export async function lockOwner(scope: Scope, tx: Transaction): Promise<string | null> {
  const [row] = await tx.query<{ person_id: string }>(
    `select person_id from memberships where org_id = $1 and role = 'owner' for update`,
    [scope.org_id],
  )
  return row?.person_id ?? null
}

/** The number of members, including suspended ones. */
export function countMembers(scope: Scope, tx: Transaction): Promise<number> {
  return total(tx, rowsOf(scope, 'memberships'))
}

export async function insertMember(scope: Scope, tx: Transaction, now: number, person_id: string, role: Role) {
  await tx.query('insert into memberships (org_id, person_id, role, joined_at) values ($1, $2, $3, $4)', [
    scope.org_id,
    person_id,
    role,
    isoTime(now),
  ])
}

export async function setRole(scope: Scope, tx: Transaction, person_id: string, role: Role): Promise<void> {
  await tx.query('update memberships set role = $3 where org_id = $1 and person_id = $2', [
    scope.org_id,
    person_id,
    role,
  ])
}

/** Suspends the member since `at` (RFC 3339); null ends the suspension. */
export async function setSuspended(scope: Scope, tx: Transaction, person_id: string, at: string | null): Promise<void> {
  await tx.query('update memberships set suspended_at = $3 where org_id = $1 and person_id = $2', [
    scope.org_id,
    person_id,
    at,
  ])
}

export async function deleteMember(scope: Scope, tx: Transaction, person_id: string): Promise<void> {
  await tx.query('delete from memberships where org_id = $1 and person_id = $2', [scope.org_id, person_id])
}

export const offerColumns = `f.id, f.org_id, o.name as workspace, f.kind, f.email, f.role, f.state, f.made_by,
  ${utc('f.made_at')}, ${utc('f.expires_at')}, ${utc('f.decided_at')}`
export const fromOffers = 'from offers f join organizations o on o.org_id = f.org_id'

/** Marks overdue offers as `expired`. */
export async function expireOffersUnscoped(tx: Transaction, now: number): Promise<void> {
  await tx.query(`update offers set state = 'expired' where state = 'pending' and expires_at <= $1`, [isoTime(now)])
}

/** Decided offers must not push a pending one off the list. */
const pendingFirst = `f.state = 'pending' desc, f.id desc`

/** The offers of the workspace, pending ones first, then the latest. */
export async function readOffers(scope: Scope, tx: Transaction): Promise<Offer[]> {
  return tx.query<Offer>(
    `select ${offerColumns} ${fromOffers} where f.org_id = $1 order by ${pendingFirst} limit 500`,
    [scope.org_id],
  )
}

/** The offers to an address, of all workspaces. */
export async function readOffersToUnscoped(tx: Transaction, email: string): Promise<Offer[]> {
  return tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.email = $1 order by ${pendingFirst} limit 500`, [
    email,
  ])
}

export async function findOfferUnscoped(tx: Transaction, id: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.id = $1`, [id])
  return offer ?? null
}

/** The offer, locked until the transaction ends. */
export async function lockOffer(scope: Scope, tx: Transaction, id: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(
    `select ${offerColumns} ${fromOffers} where f.org_id = $1 and f.id = $2 for update of f`,
    [scope.org_id, id],
  )
  return offer ?? null
}

/** False when the same offer to that address is pending already. */
export async function insertOffer(
  scope: Scope,
  tx: Transaction,
  offer: Omit<Offer, 'workspace' | 'org_id'>,
): Promise<boolean> {
  const { id, kind, email, role, state, made_by, made_at, expires_at } = offer
  const rows = await tx.query(
    `insert into offers (org_id, id, kind, email, role, state, made_by, made_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing returning 1`,
    [scope.org_id, id, kind, email, role, state, made_by, made_at, expires_at],
  )
  return rows.length > 0
}

export async function setOfferState(scope: Scope, tx: Transaction, id: string, state: Offer['state'], at: string) {
  await tx.query('update offers set state = $3, decided_at = $4 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    state,
    at,
  ])
}

/** The addresses of the successors who have accepted an offer of this owner, the latest first. */
export async function acceptedSuccessors(scope: Scope, tx: Transaction, owner: string): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `select email from offers where org_id = $1 and kind = 'successor' and state = 'accepted' and made_by = $2
     order by decided_at desc`,
    [scope.org_id, owner],
  )
  return rows.map(({ email }) => email)
}

type RevokedOffer = Pick<Offer, 'id' | 'kind' | 'role'>

/** Revokes the pending offers to an address, and its acceptance as a successor. */
export function revokeOffersTo(scope: Scope, tx: Transaction, email: string, at: string): Promise<RevokedOffer[]> {
  return tx.query<RevokedOffer>(
    `update offers set state = 'revoked', decided_at = $3 where org_id = $1 and email = $2
       and (state = 'pending' or kind = 'successor' and state = 'accepted') returning id, kind, role`,
    [scope.org_id, email, at],
  )
}

/** Revokes the pending offers of these kinds that a member has made, and the successors that accepted them. */
export function revokeOffersOf(
  scope: Scope,
  tx: Transaction,
  made_by: string,
  kinds: readonly Offer['kind'][],
  at: string,
): Promise<RevokedOffer[]> {
  return tx.query<RevokedOffer>(
    `update offers set state = 'revoked', decided_at = $4 where org_id = $1 and made_by = $2 and kind = any($3::text[])
       and (state = 'pending' or kind = 'successor' and state = 'accepted') returning id, kind, role`,
    [scope.org_id, made_by, kinds, at],
  )
}

export async function renameWorkspace(
  scope: Scope,
  tx: Transaction,
  { name, kind }: { readonly name: string; readonly kind: 'personal' | 'shared' },
): Promise<void> {
  await tx.query('update organizations set name = $2, kind = $3 where org_id = $1', [scope.org_id, name, kind])
}

/**
 * Locks the workspace until the transaction ends, and returns its kind. The lock does not block inserts of rows that
 * refer to the workspace: such transactions hold the lock of its log, which the caller takes next.
 */
export async function lockWorkspace(scope: Scope, tx: Transaction): Promise<'personal' | 'shared' | null> {
  const [row] = await tx.query<{ kind: 'personal' | 'shared' }>(
    'select kind from organizations where org_id = $1 for no key update',
    [scope.org_id],
  )
  return row?.kind ?? null
}
