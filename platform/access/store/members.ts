// Members of a workspace and what is offered to whom, for whoever works in it.
import type { Offer } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import type { Role } from '../../http/principal.js'

export interface Membership {
  readonly person_id: string
  readonly role: Role
  readonly is_suspended: boolean
}

/** Locked until the transaction ends; null when the person is no member. */
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

/** How many members the workspace has, suspended ones included. */
export async function countMembers(scope: Scope, tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ count: number }>('select count(*)::int as count from memberships where org_id = $1', [
    scope.org_id,
  ])
  return row?.count ?? 0
}

export async function insertMember(scope: Scope, tx: Transaction, now: number, person_id: string, role: Role) {
  await tx.query('insert into memberships (org_id, person_id, role, joined_at) values ($1, $2, $3, $4)', [
    ...[scope.org_id, person_id, role, new Date(now).toISOString()],
  ])
}

export async function setRole(scope: Scope, tx: Transaction, person_id: string, role: Role): Promise<void> {
  await tx.query('update memberships set role = $3 where org_id = $1 and person_id = $2', [
    scope.org_id,
    person_id,
    role,
  ])
}

/** Suspends from `at` (RFC 3339), or no more when that is null. */
export async function setSuspended(scope: Scope, tx: Transaction, person_id: string, at: string | null): Promise<void> {
  await tx.query('update memberships set suspended_at = $3 where org_id = $1 and person_id = $2', [
    ...[scope.org_id, person_id, at],
  ])
}

export async function deleteMember(scope: Scope, tx: Transaction, person_id: string): Promise<void> {
  await tx.query('delete from memberships where org_id = $1 and person_id = $2', [scope.org_id, person_id])
}

export const offerColumns = `f.id, f.org_id, o.name as workspace, f.kind, f.email, f.role, f.state, f.made_by,
  ${utc('f.made_at')}, ${utc('f.expires_at')}, ${utc('f.decided_at')}`
export const fromOffers = 'from offers f join organizations o on o.org_id = f.org_id'

/** Marks what is past its time, so that nobody is offered it any more. */
export async function expireOffersUnscoped(tx: Transaction, now: number): Promise<void> {
  await tx.query(`update offers set state = 'expired' where state = 'pending' and expires_at <= $1`, [
    new Date(now).toISOString(),
  ])
}

/** What has been decided already, however much of it, must not hide what has not. */
const openFirst = `f.state = 'pending' desc, f.id desc`

/** Offers of the workspace, open ones first, then the latest. */
export async function readOffers(scope: Scope, tx: Transaction): Promise<Offer[]> {
  return tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.org_id = $1 order by ${openFirst} limit 500`, [
    scope.org_id,
  ])
}

/** What is offered to an address, wherever. */
export async function readOffersToUnscoped(tx: Transaction, email: string): Promise<Offer[]> {
  return tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.email = $1 order by ${openFirst} limit 500`, [
    email,
  ])
}

export async function findOfferUnscoped(tx: Transaction, id: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(`select ${offerColumns} ${fromOffers} where f.id = $1`, [id])
  return offer ?? null
}

/** Locked until the transaction ends. */
export async function lockOffer(scope: Scope, tx: Transaction, id: string): Promise<Offer | null> {
  const [offer] = await tx.query<Offer>(
    `select ${offerColumns} ${fromOffers} where f.org_id = $1 and f.id = $2 for update of f`,
    [scope.org_id, id],
  )
  return offer ?? null
}

/** False when the same is offered to that address already. */
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

/** Addresses of those who have agreed to follow this owner, the latest first. */
export async function acceptedSuccessors(scope: Scope, tx: Transaction, owner: string): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `select email from offers where org_id = $1 and kind = 'successor' and state = 'accepted' and made_by = $2
     order by decided_at desc`,
    [scope.org_id, owner],
  )
  return rows.map(({ email }) => email)
}

/** Ends the offers to an address that its leaving makes void. */
export async function revokeOffersTo(scope: Scope, tx: Transaction, email: string, at: string): Promise<void> {
  await tx.query(
    `update offers set state = 'revoked', decided_at = $3 where org_id = $1 and email = $2
       and (state = 'pending' or kind = 'successor' and state = 'accepted')`,
    [scope.org_id, email, at],
  )
}

/** Ends the open offers of these kinds that somebody has made. */
export async function revokeOffersOf(
  scope: Scope,
  tx: Transaction,
  made_by: string,
  kinds: readonly Offer['kind'][],
  at: string,
): Promise<void> {
  await tx.query(
    `update offers set state = 'revoked', decided_at = $4 where org_id = $1 and made_by = $2 and kind = any($3::text[])
       and (state = 'pending' or kind = 'successor' and state = 'accepted')`,
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
 * Locks the workspace until the transaction ends. Not against whoever only refers to it: they hold its log, which whoever locks
 * the workspace takes next.
 */
export async function workspaceKind(scope: Scope, tx: Transaction): Promise<'personal' | 'shared' | null> {
  const [row] = await tx.query<{ kind: 'personal' | 'shared' }>(
    'select kind from organizations where org_id = $1 for no key update',
    [scope.org_id],
  )
  return row?.kind ?? null
}
