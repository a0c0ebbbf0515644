// Who calls, and what a route allows: shared by the routes and by the authentication that the roof passes in.
import type { Workspace } from '@svc/schemas'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'

export type Role = Workspace['role']

export const allRoles: readonly Role[] = ['owner', 'admin', 'member', 'auditor']
export const operators: readonly Role[] = ['owner', 'admin', 'member']
export const admins: readonly Role[] = ['owner', 'admin']

/** An API key. It writes for the agents that it has registered. */
export interface KeyIdentity {
  readonly key_id: string
  readonly first_key_hash: Uint8Array
  readonly scopes: readonly string[]
}

export type Principal =
  | { readonly kind: 'key'; readonly scope: Scope; readonly key: KeyIdentity }
  | { readonly kind: 'operator'; readonly scope: Scope }
  | { readonly kind: 'anonymous'; readonly scope: Scope }
  | PersonPrincipal

export interface PersonPrincipal {
  readonly kind: 'person'
  /** Of the workspace they work in; one that sees nothing where there is none. */
  readonly scope: Scope
  readonly person_id: string
  readonly session_id: string
  readonly org_id: string | null
  /** Null in a workspace they have left. */
  readonly role: Role | null
  readonly is_capped: boolean
  /** Waitlisted, and in no workspace that is open to them. */
  readonly is_waitlisted: boolean
  readonly is_suspended: boolean
}

export interface Access {
  readonly kinds: readonly Principal['kind'][]
  /** What an API key must be allowed to do. */
  readonly key_scope: 'ingest' | 'read'
  /** What a person must be in the workspace; null where it is about themselves. */
  readonly roles: readonly Role[] | null
  /** What a person must be in the workspace that the path names; the route itself sees to it. */
  readonly within?: readonly Role[]
}

/** What of a request tells who sends it. */
export interface Sender {
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly csrf: string | undefined
  /** False for what changes nothing. */
  readonly changes: boolean
  /** Where it comes from, as limits count. */
  readonly network: string
}

export interface Authentication {
  readonly authenticate: (sender: Sender, access: Access) => Promise<Principal>
  /** The caller, whatever they may do; null where there is no valid credential. Rejects with RATE_LIMITED. */
  readonly identify: (sender: Sender) => Promise<Principal | null>
}

/** The API key of the caller. Throws FORBIDDEN for any other caller. */
export function keyOf(principal: Principal): KeyIdentity {
  if (principal.kind === 'key') return principal.key
  throw new PlatformError('FORBIDDEN', 'this needs an API key (`SvcKey-…`)')
}

/** The person who calls. Throws FORBIDDEN for any other caller. */
export function personOf(principal: Principal): PersonPrincipal {
  if (principal.kind === 'person') return principal
  throw new PlatformError('FORBIDDEN', 'sign in first: this needs a person')
}
