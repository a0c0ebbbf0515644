// How people get in and stay in: links that work once, sessions, and refresh tokens that are each good for one use. Secrets
// are stored as their SHA-256 only.
import { createHash } from 'node:crypto'
import type { Workspace } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Role } from '../../http/principal.js'

export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

const iso = (time: number) => new Date(time).toISOString()

/** Keeps a sign-in link until then (ms since 1970), and forgets old ones. */
export async function insertLinkUnscoped(
  tx: Transaction,
  now: number,
  link: { readonly secret: string; readonly email: string; readonly until: number },
): Promise<void> {
  await tx.query('delete from magic_links where expires_at < $1', [iso(now - day)])
  await tx.query('insert into magic_links (token_hash, email, made_at, expires_at) values ($1, $2, $3, $4)', [
    ...[secretHash(link.secret), link.email, iso(now), iso(link.until)],
  ])
}

const day = 86_400_000
/** However often it is renewed, a session ends, ms. */
const longestSession = 90 * day

/** Spends the link; the address it was made for, or null when it is none, used or over. */
export async function spendLinkUnscoped(tx: Transaction, now: number, secret: string): Promise<string | null> {
  const [row] = await tx.query<{ email: string }>(
    `update magic_links set used_at = $2 where token_hash = $1 and used_at is null and expires_at > $2 returning email`,
    [secretHash(secret), iso(now)],
  )
  return row?.email ?? null
}

/** The address a link was made for, while it can be spent; null otherwise. */
export async function addressOfLinkUnscoped(tx: Transaction, now: number, secret: string): Promise<string | null> {
  const [row] = await tx.query<{ email: string }>(
    'select email from magic_links where token_hash = $1 and used_at is null and expires_at > $2',
    [secretHash(secret), iso(now)],
  )
  return row?.email ?? null
}

export async function insertSessionUnscoped(
  tx: Transaction,
  now: number,
  session: { readonly session_id: string; readonly person_id: string; readonly org_id: string | null },
): Promise<void> {
  await tx.query('insert into sessions (session_id, person_id, current_org, made_at) values ($1, $2, $3, $4)', [
    ...[session.session_id, session.person_id, session.org_id, iso(now)],
  ])
}

/** Where the person worked last, as far as they still may. */
export async function lastWorkspaceUnscoped(tx: Transaction, person_id: string): Promise<string | null> {
  const [row] = await tx.query<{ org_id: string }>(
    `select s.current_org as org_id from sessions s
     join memberships m on m.org_id = s.current_org and m.person_id = s.person_id and m.suspended_at is null
     where s.person_id = $1 order by s.made_at desc, s.session_id desc limit 1`,
    [person_id],
  )
  return row?.org_id ?? null
}

export async function insertRefreshUnscoped(
  tx: Transaction,
  now: number,
  token: { readonly secret: string; readonly session_id: string; readonly until: number },
): Promise<void> {
  await tx.query('insert into refresh_tokens (token_hash, session_id, made_at, expires_at) values ($1, $2, $3, $4)', [
    ...[secretHash(token.secret), token.session_id, iso(now), iso(token.until)],
  ])
}

export type Refreshed =
  | { readonly kind: 'continued'; readonly session_id: string; readonly person_id: string }
  | { readonly kind: 'reused'; readonly session_id: string }
  | { readonly kind: 'unknown' }

/** Uses up a refresh token. One that was used before has been stolen, from its holder or by them: the session is over. */
export async function useRefreshUnscoped(tx: Transaction, now: number, secret: string): Promise<Refreshed> {
  const [row] = await tx.query<{ session_id: string; person_id: string; used: boolean; over: boolean }>(
    `select r.session_id, s.person_id, r.used_at is not null as used, (r.expires_at <= $2 or s.revoked_at is not null or s.made_at <= $3) as over
     from refresh_tokens r join sessions s on s.session_id = r.session_id where r.token_hash = $1 for update of r, s`,
    [secretHash(secret), iso(now), iso(now - longestSession)],
  )
  if (row === undefined || row.over) return { kind: 'unknown' }
  const { session_id, person_id } = row
  if (row.used) {
    await revokeSessionUnscoped(tx, now, session_id)
    return { kind: 'reused', session_id }
  }
  await tx.query('update refresh_tokens set used_at = $2 where token_hash = $1', [secretHash(secret), iso(now)])
  return { kind: 'continued', session_id, person_id }
}

export async function revokeSessionUnscoped(tx: Transaction, now: number, session_id: string): Promise<void> {
  await tx.query('update sessions set revoked_at = $2 where session_id = $1 and revoked_at is null', [
    session_id,
    iso(now),
  ])
}

/** Works in another workspace from now on. */
export async function setSessionOrgUnscoped(tx: Transaction, session_id: string, org_id: string | null): Promise<void> {
  await tx.query('update sessions set current_org = $2 where session_id = $1', [session_id, org_id])
}

/** Sessions that work nowhere work here from now on. */
export async function placeSessionsUnscoped(tx: Transaction, person_id: string, org_id: string): Promise<void> {
  await tx.query('update sessions set current_org = $2 where person_id = $1 and current_org is null', [
    person_id,
    org_id,
  ])
}

/** Sessions of a waitlisted account that are in no open workspace continue in this one. */
export async function placeWaitlistedUnscoped(tx: Transaction, person_id: string, org_id: string): Promise<void> {
  await tx.query(
    `update sessions s set current_org = $2 from people p
     where s.person_id = $1 and p.person_id = s.person_id and p.is_capped and s.revoked_at is null
       and not exists (select 1 from organizations o where o.org_id = s.current_org and o.kind = 'shared')`,
    [person_id, org_id],
  )
}

export interface LiveSession {
  readonly org_id: string | null
  /** Of that workspace; null where there is none. */
  readonly kind: Workspace['kind'] | null
  readonly is_capped: boolean
  /** Null where the person is no member of that workspace. */
  readonly role: Role | null
  readonly is_suspended: boolean
}

/** What a session may do at this moment; null when it is over. */
export async function liveSessionUnscoped(
  tx: Transaction,
  session_id: string,
  person_id: string,
): Promise<LiveSession | null> {
  const [row] = await tx.query<LiveSession>(
    `select s.current_org as org_id, o.kind, p.is_capped, m.role, m.suspended_at is not null as is_suspended
     from sessions s join people p on p.person_id = s.person_id
     left join organizations o on o.org_id = s.current_org
     left join memberships m on m.org_id = s.current_org and m.person_id = s.person_id
     where s.session_id = $1 and s.person_id = $2 and s.revoked_at is null`,
    [session_id, person_id],
  )
  return row ?? null
}
