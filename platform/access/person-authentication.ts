// Authentication of people, by the access token of a session or the cookie of a browser.
import { withUnscopedTransaction } from '../db/db.js'
import { scopeOf } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { isSecure } from '../http/client.js'
import type { PersonPrincipal, Sender } from '../http/principal.js'
import type { AccessParts } from './parts.js'
import { isWaitlisted } from './store/people.js'
import { liveSessionUnscoped } from './store/sessions.js'

/** The scope of a caller without a workspace: row-level security shows it no rows. */
export const noScope = scopeOf('org_0', { kind: 'system', id: 'anonymous' })

/**
 * The cookie names. Over HTTPS they have the prefix `__Host-`: browsers reject such a cookie when another host of the domain
 * sets it (RFC 6265bis §4.1.3.2).
 */
export function cookieNames({ url }: Pick<AccessParts, 'url'>): { readonly access: string; readonly csrf: string } {
  const prefix = isSecure(url()) ? '__Host-' : ''
  return { access: `${prefix}svc_access`, csrf: `${prefix}svc_csrf` }
}

const noSession = { person_id: '', session_id: '' } as const

/** The person of an access token; null where the token or its session is not valid. */
export async function personOfToken(
  { db, access_tokens }: AccessParts,
  token: string,
): Promise<PersonPrincipal | null> {
  // The session of an invalid token is looked up as well, so that both answers take the same time.
  const { person_id, session_id } = (await access_tokens.read(token)) ?? noSession
  const live = await withUnscopedTransaction(db, (tx) => liveSessionUnscoped(tx, session_id, person_id))
  if (live === null) return null
  const { org_id, kind: workspace_kind, ...state } = live
  const is_waitlisted = isWaitlisted(live.is_capped, workspace_kind)
  const isActive = org_id !== null && live.role !== null && !live.is_suspended && !is_waitlisted
  const scope = isActive ? scopeOf(org_id, { kind: 'person', id: person_id }) : noScope
  return { kind: 'person', scope, person_id, session_id, org_id, is_waitlisted, ...state }
}

/** The person of a cookie. Rejects with FORBIDDEN for a request that changes something without the CSRF token of the session. */
export async function personOfCookie(
  parts: AccessParts,
  { cookie, csrf, changes }: Sender,
): Promise<PersonPrincipal | null> {
  const names = cookieNames(parts)
  const token = cookieIn(cookie, names.access)
  const principal = token === null ? null : await personOfToken(parts, token)
  if (principal === null || !changes) return principal
  if (csrf !== undefined && parts.access_tokens.isCsrf(principal.session_id, csrf)) return principal
  throw new PlatformError(
    'FORBIDDEN',
    `a browser must send the value of the cookie \`${names.csrf}\` in the header \`X-CSRF-Token\``,
  )
}

function cookieIn(header: string | undefined, name: string): string | null {
  const found = header
    ?.split(';')
    .map((part) => part.trim().split('='))
    .find(([key]) => key === name)
  return found?.[1] ?? null
}
