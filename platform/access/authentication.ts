// Who is calling: an API key, a person who has signed in, the operator with the token this install printed, or nobody.

import { timingSafeEqual } from 'node:crypto'
import { withUnscopedTransaction } from '../db/db.js'
import { scopeOf } from '../db/scope.js'
import { onlyFor, PlatformError } from '../errors.js'
import { isSecure } from '../http/client.js'
import type { Access, Authentication, PersonPrincipal, Principal, Role, Sender } from '../http/principal.js'
import { createKnownKeys } from './known-keys.js'
import type { AccessParts } from './parts.js'
import { type KeyRow, keyHash } from './store/organizations.js'
import { isWaitlisted } from './store/people.js'
import { liveSessionUnscoped } from './store/sessions.js'

/**
 * Names of a browser's cookies. Where they travel over HTTPS, the prefix makes browsers reject a cookie of this name that
 * another host of the domain has set (RFC 6265bis §4.1.3.2).
 */
export function cookieNames(parts: Pick<AccessParts, 'url'>): { readonly access: string; readonly csrf: string } {
  const prefix = isSecure(parts.url()) ? '__Host-' : ''
  return { access: `${prefix}svc_access`, csrf: `${prefix}svc_csrf` }
}

/** Credentials that are remembered as valid from an address; a forgotten one is looked up like a new one. */
const maxProven = 50_000

const challenge = { 'www-authenticate': 'Bearer realm="svc"' }
const nobodyHolds = { person_id: '', session_id: '' } as const
/** Sees no row of anybody's. */
const noScope = scopeOf('org_0', { kind: 'system', id: 'anonymous' })

/** The local operator token, and the organization that it opens. */
export interface Operator {
  readonly operator_org: string
  readonly operator_token: string
}

/** Rejects with UNAUTHENTICATED, or FORBIDDEN when the credential is sound and may not do this. */
export function createAuthentication(parts: AccessParts, { operator_org, operator_token }: Operator): Authentication {
  const { db, clock, access_tokens, limits } = parts
  const { by_wrong_credential } = limits
  const operator = {
    kind: 'operator',
    scope: scopeOf(operator_org, { kind: 'operator', id: 'local' }),
  } as const
  const findKey = createKnownKeys(parts)
  const operatorHash = keyHash(operator_token)

  const person = async (token: string): Promise<PersonPrincipal | null> => {
    // A token that is none is looked up as well, so that an answer takes as long.
    const { person_id, session_id } = (await access_tokens.read(token)) ?? nobodyHolds
    const live = await withUnscopedTransaction(db, (tx) => liveSessionUnscoped(tx, session_id, person_id))
    if (live === null) return null
    const { org_id, kind: workspace_kind, ...state } = live
    const is_waitlisted = isWaitlisted(live.is_capped, workspace_kind)
    const works = org_id !== null && live.role !== null && !live.is_suspended && !is_waitlisted
    const scope = works ? scopeOf(org_id, { kind: 'person', id: person_id }) : noScope
    return { kind: 'person', scope, person_id, session_id, org_id, is_waitlisted, ...state }
  }

  const byCookie = async ({ cookie, csrf, changes }: Sender): Promise<PersonPrincipal | null> => {
    const names = cookieNames(parts)
    const token = cookieIn(cookie, names.access)
    const principal = token === null ? null : await person(token)
    if (principal === null || !changes) return principal
    if (csrf !== undefined && access_tokens.isCsrf(principal.session_id, csrf)) return principal
    throw new PlatformError('FORBIDDEN', `a browser must send the value of the cookie ${names.csrf} as X-CSRF-Token`)
  }

  const byKey = async (hash: Buffer): Promise<Principal | null> => {
    const row = await findKey(hash)
    if (row === null || isOver(row, clock())) return null
    limits.by_key.take(`${row.org_id} ${row.key_id}`)
    return { kind: 'key', scope: scopeOf(row.org_id, { kind: 'api_key', id: row.key_id }), key: row }
  }

  const proven = new Set<string>()
  /**
   * An API key or the operator token. Wrong ones are counted by address. Where an address has sent too many, only what was
   * valid from there before is looked at, so that guessing ends and the agents behind that address go on.
   */
  const bySecret = async (token: string, network: string): Promise<Principal | null> => {
    const hash = keyHash(token)
    const attempt = async () => {
      if (timingSafeEqual(hash, operatorHash)) return operator
      return token.startsWith('SvcKey-') ? byKey(hash) : null
    }
    const pair = `${network} ${hash.toString('base64')}`
    if (proven.has(pair)) {
      const principal = await attempt()
      if (principal !== null) return principal
      proven.delete(pair)
    }
    const principal = await by_wrong_credential.guard(network, attempt)
    if (proven.size >= maxProven) proven.clear()
    if (principal !== null) proven.add(pair)
    return principal
  }

  // A signed token cannot be guessed, and one that has just expired is no attack: these are not counted.
  const known = (token: string, network: string) =>
    /^eyJ[^.]*\.[^.]+\.[^.]+$/.test(token) ? person(token) : bySecret(token, network)

  const identify = async (sender: Sender): Promise<Principal | null> => {
    const token = tokenOf(sender)
    if (token !== undefined) return known(token, sender.network)
    return sender.cookie === undefined ? null : byCookie(sender)
  }

  const authenticate = async (sender: Sender, access: Access): Promise<Principal> => {
    if (access.kinds.includes('anonymous')) return { kind: 'anonymous', scope: noScope }
    const principal = await identify(sender)
    if (principal !== null) return allow(principal, access)
    const what =
      tokenOf(sender) === undefined
        ? 'send `Authorization: Bearer …` with an API key or a token'
        : 'the credential is not valid here'
    throw new PlatformError('UNAUTHENTICATED', what, { headers: challenge })
  }
  return { authenticate, identify }
}

function tokenOf({ authorization }: Sender): string | undefined {
  return /^Bearer ([!-~]{1,2000})$/i.exec(authorization ?? '')?.[1]
}

/** Whether a key opens nothing any more; `now` is ms since 1970. */
export function isOver({ revoked_at, expires_at }: KeyRow, now: number): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now)
}

function allow(principal: Principal, { kinds, key_scope, roles }: Access): Principal {
  if (!kinds.includes(principal.kind)) {
    const wanted = kinds.includes('key') ? 'an API key (`SvcKey-…`)' : 'somebody who has signed in'
    throw new PlatformError('FORBIDDEN', `this needs ${wanted}`)
  }
  if (principal.kind === 'key' && !principal.key.scopes.includes(key_scope))
    throw new PlatformError('FORBIDDEN', `this key may not do this: it lacks the scope \`${key_scope}\``)
  if (principal.kind === 'person' && roles !== null) refusePerson(principal, roles)
  return principal
}

/** What a waitlisted account is answered where it may not work. */
export const waitlisted =
  'this account is on the waiting list: its own workspace opens when the operator releases it; a workspace it is invited to is open'

function refusePerson({ is_waitlisted, is_suspended, role }: PersonPrincipal, roles: readonly Role[]): void {
  if (is_waitlisted) throw new PlatformError('FORBIDDEN', waitlisted)
  if (is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (role === null)
    throw new PlatformError('FORBIDDEN', 'this account is no member of the workspace: switch to another')
  if (!roles.includes(role)) throw onlyFor(roles, role)
}

function cookieIn(header: string | undefined, name: string): string | null {
  const found = header
    ?.split(';')
    .map((part) => part.trim().split('='))
    .find(([key]) => key === name)
  return found?.[1] ?? null
}
