// Sessions (docs/design/platform.md §5): sign-in by a one-time link, and refresh tokens whose second use reveals a theft.

import { randomBytes } from 'node:crypto'
import type { SessionTokens } from '@svc/schemas'
import { type Transaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { accessTokenSeconds } from '../../secrets/access-tokens.js'
import type { AccessParts } from '../parts.js'
import { unauthenticated } from '../permission.js'
import { findPersonUnscoped, isWaitlisted, type Person, workspacesOfUnscoped } from '../store/people.js'
import {
  insertRefreshUnscoped,
  insertSessionUnscoped,
  lastWorkspaceUnscoped,
  redeemLinkUnscoped,
  revokeSessionUnscoped,
  useRefreshUnscoped,
} from '../store/sessions.js'
import { signUp } from './sign-up.js'

/** A session that is not refreshed for this time ends. */
const refreshTimeoutMs = 30 * 86_400_000

/** Signs in with a link; an address without an account gets one. Rejects with UNAUTHENTICATED. */
export async function signIn(parts: AccessParts, secret: string): Promise<SessionTokens> {
  parts.access_tokens.require()
  const now = parts.clock()
  const session = await withUnscopedTransaction(parts.db, async (tx) => {
    const email = await redeemLinkUnscoped(tx, now, secret)
    if (email === null) return null
    const person = (await findPersonUnscoped(tx, email)) ?? (await signUp(parts, tx, now, email))
    return beginSession(tx, now, person)
  })
  if (session === null) throw unauthenticated('the link has expired or was already used: ask for a new one')
  return tokensOf(parts, session)
}

export interface Session {
  readonly person_id: string
  readonly session_id: string
  readonly refresh_token: string
}

/** Begins a session in the workspace `wanted`, else in the last one of the person, else in the first open one. */
export async function beginSession(
  tx: Transaction,
  now: number,
  { person_id, is_capped }: Person,
  wanted: string | null = null,
): Promise<Session> {
  const session_id = newId('ses', now)
  const member = (await workspacesOfUnscoped(tx, person_id)).filter(({ is_suspended }) => !is_suspended)
  const open = member.filter(({ kind }) => !isWaitlisted(is_capped, kind))
  const last = await lastWorkspaceUnscoped(tx, person_id)
  const chosen = [wanted, last].find((id) => open.some(({ org_id }) => org_id === id))
  const org_id = chosen ?? (open[0] ?? member[0])?.org_id ?? null
  await insertSessionUnscoped(tx, now, { session_id, person_id, org_id })
  return { person_id, session_id, refresh_token: await newRefresh(tx, now, session_id) }
}

async function newRefresh(tx: Transaction, now: number, session_id: string): Promise<string> {
  const secret = `SvcRefresh-${randomBytes(32).toString('base64url')}`
  await insertRefreshUnscoped(tx, now, { secret, session_id, until: now + refreshTimeoutMs })
  return secret
}

/** The tokens of a session. */
export async function tokensOf(
  { access_tokens }: AccessParts,
  { refresh_token, ...holder }: Session,
): Promise<SessionTokens> {
  const access_token = await access_tokens.issue(holder)
  return { access_token, token_type: 'Bearer', expires_in: accessTokenSeconds, refresh_token }
}

/** Continues a session. Rejects with UNAUTHENTICATED; the second use of a token ends the session. */
export async function refresh(parts: AccessParts, secret: string): Promise<SessionTokens> {
  const now = parts.clock()
  const continued = await withUnscopedTransaction(parts.db, async (tx) => {
    const used = await useRefreshUnscoped(tx, now, secret)
    if (used.kind !== 'continued') return used
    return { ...used, refresh_token: await newRefresh(tx, now, used.session_id) }
  })
  if (continued.kind === 'reused') {
    parts.logger.warn({ session_id: continued.session_id }, 'a refresh token was used twice: the session has ended')
    throw unauthenticated('the refresh token was already used, so the session has ended: sign in again')
  }
  if (continued.kind === 'unknown') throw unauthenticated('the refresh token is invalid: sign in again')
  const { person_id, session_id, refresh_token } = continued
  return tokensOf(parts, { person_id, session_id, refresh_token })
}

/** Ends a session. */
export async function signOut({ db, clock }: AccessParts, session_id: string): Promise<void> {
  await withUnscopedTransaction(db, (tx) => revokeSessionUnscoped(tx, clock(), session_id))
}
