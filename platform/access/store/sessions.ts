// Sign-in links, sessions and refresh tokens. Their secrets are stored only as SHA-256.
import { isoTime, type Workspace } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Role } from '../../http/principal.js'
import { secretHash } from '../../secrets/secret-hash.js'

const dayMs = 86_400_000
/** A session ends after this time, even when it is refreshed. */
const maxSessionMs = 90 * dayMs

/** Stores a sign-in link that is valid until `until` (ms since 1970), and deletes old ones. */
export async function insertLinkUnscoped(
  tx: Transaction,
  now: number,
  link: { readonly secret: string; readonly email: string; readonly until: number },
): Promise<void> {
  await tx.query('delete from magic_links where expires_at < $1', [isoTime(now - dayMs)])
  await tx.query('insert into magic_links (token_hash, email, made_at, expires_at) values ($1, $2, $3, $4)', [
    secretHash(link.secret),
    link.email,
    isoTime(now),
    isoTime(link.until),
  ])
}

/** Uses up the link, and returns its address; null for an unknown, used or expired link. */
export async function redeemLinkUnscoped(tx: Transaction, now: number, secret: string): Promise<string | null> {
  const [row] = await tx.query<{ email: string }>(
    `update magic_links set used_at = $2 where token_hash = $1 and used_at is null and expires_at > $2 returning email`,
    [secretHash(secret), isoTime(now)],
  )
  return row?.email ?? null
}

/** The address of a link that can still be used; null for any other link. */
export async function addressOfLinkUnscoped(tx: Transaction, now: number, secret: string): Promise<string | null> {
  const [row] = await tx.query<{ email: string }>(
    'select email from magic_links where token_hash = $1 and used_at is null and expires_at > $2',
    [secretHash(secret), isoTime(now)],
  )
  return row?.email ?? null
}

export async function insertSessionUnscoped(
  tx: Transaction,
  now: number,
  session: { readonly session_id: string; readonly person_id: string; readonly org_id: string | null },
): Promise<void> {
  await tx.query('insert into sessions (session_id, person_id, current_org, made_at) values ($1, $2, $3, $4)', [
    session.session_id,
    session.person_id,
    session.org_id,
    isoTime(now),
  ])
}

/** The workspace of the person's last session, where they are still an active member. */
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
    secretHash(token.secret),
    token.session_id,
    isoTime(now),
    isoTime(token.until),
  ])
}

type Refreshed =
  | { readonly kind: 'continued'; readonly session_id: string; readonly person_id: string }
  | { readonly kind: 'reused'; readonly session_id: string }
  | { readonly kind: 'unknown' }

/** Uses up a refresh token. A second use means that the token was stolen, so the session ends. */
export async function useRefreshUnscoped(tx: Transaction, now: number, secret: string): Promise<Refreshed> {
  const [row] = await tx.query<{ session_id: string; person_id: string; is_used: boolean; is_ended: boolean }>(
    `select r.session_id, s.person_id, r.used_at is not null as is_used, (r.expires_at <= $2 or s.revoked_at is not null or s.made_at <= $3) as is_ended
     from refresh_tokens r join sessions s on s.session_id = r.session_id where r.token_hash = $1 for update of r, s`,
    [secretHash(secret), isoTime(now), isoTime(now - maxSessionMs)],
  )
  if (row === undefined || row.is_ended) return { kind: 'unknown' }
  const { session_id, person_id } = row
  if (row.is_used) {
    await revokeSessionUnscoped(tx, now, session_id)
    return { kind: 'reused', session_id }
  }
  await tx.query('update refresh_tokens set used_at = $2 where token_hash = $1', [secretHash(secret), isoTime(now)])
  return { kind: 'continued', session_id, person_id }
}

export async function revokeSessionUnscoped(tx: Transaction, now: number, session_id: string): Promise<void> {
  await tx.query('update sessions set revoked_at = $2 where session_id = $1 and revoked_at is null', [
    session_id,
    isoTime(now),
  ])
}

/** Switches the session to another workspace. */
export async function setSessionOrgUnscoped(tx: Transaction, session_id: string, org_id: string | null): Promise<void> {
  await tx.query('update sessions set current_org = $2 where session_id = $1', [session_id, org_id])
}

/** Switches the person's sessions in this workspace to their personal one. */
export async function leaveSessionsUnscoped(tx: Transaction, person_id: string, org_id: string): Promise<void> {
  await tx.query(
    `update sessions set current_org = (
       select o.org_id from memberships m join organizations o on o.org_id = m.org_id
       where m.person_id = $1 and o.kind = 'personal' order by m.joined_at desc limit 1)
     where person_id = $1 and current_org = $2`,
    [person_id, org_id],
  )
}

/** Switches the sessions of a waitlisted account to this workspace where their current one is closed. */
export async function switchWaitlistedUnscoped(tx: Transaction, person_id: string, org_id: string): Promise<void> {
  await tx.query(
    `update sessions s set current_org = $2 from people p
     where s.person_id = $1 and p.person_id = s.person_id and p.is_capped and s.revoked_at is null
       and not exists (select 1 from organizations o where o.org_id = s.current_org and o.kind = 'shared')`,
    [person_id, org_id],
  )
}

interface LiveSession {
  readonly org_id: string | null
  /** The kind of that workspace; null without one. */
  readonly kind: Workspace['kind'] | null
  readonly email: string
  readonly is_capped: boolean
  /** Null where the person is not a member of that workspace. */
  readonly role: Role | null
  readonly is_suspended: boolean
}

/** The current rights of a session; null when it has ended. */
export async function liveSessionUnscoped(
  tx: Transaction,
  session_id: string,
  person_id: string,
): Promise<LiveSession | null> {
  const [row] = await tx.query<LiveSession>(
    `select s.current_org as org_id, o.kind, p.email, p.is_capped, m.role, m.suspended_at is not null as is_suspended
     from sessions s join people p on p.person_id = s.person_id and p.ended_at is null
     left join organizations o on o.org_id = s.current_org
     left join memberships m on m.org_id = s.current_org and m.person_id = s.person_id
     where s.session_id = $1 and s.person_id = $2 and s.revoked_at is null`,
    [session_id, person_id],
  )
  return row ?? null
}
