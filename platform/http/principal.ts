// The caller of a request, and the access that a route allows.
import type { Workspace } from '@svc/schemas'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'

export type Role = Workspace['role']

export const allRoles: readonly Role[] = ['owner', 'admin', 'member', 'auditor']
export const operators: readonly Role[] = ['owner', 'admin', 'member']
export const admins: readonly Role[] = ['owner', 'admin']
/** Those who may take the evidence of a workspace with them. */
export const auditors: readonly Role[] = ['owner', 'admin', 'auditor']

/** An API key. It writes for the agents that it registered. */
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
  /** Of the current workspace; without one, a scope that sees no rows. */
  readonly scope: Scope
  readonly person_id: string
  readonly email: string
  readonly session_id: string
  readonly org_id: string | null
  /** Null in a workspace that the person has left. */
  readonly role: Role | null
  readonly is_capped: boolean
  /** Waitlisted, without a workspace that is open to the person. */
  readonly is_waitlisted: boolean
  readonly is_suspended: boolean
}

export interface Access {
  readonly kinds: readonly Principal['kind'][]
  /** The scope that an API key needs. */
  readonly key_scope: 'ingest' | 'read'
  /** The roles in the current workspace that allow the call; null when it concerns the person alone. */
  readonly roles: readonly Role[] | null
  /** The roles in the workspace that the path names; the command checks them. */
  readonly within?: readonly Role[]
}

/** The parts of a request that identify its sender. */
export interface Sender {
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly csrf: string | undefined
  /** False for requests that only read. */
  readonly changes: boolean
  /** The network that limits count. */
  readonly network: string
}

export interface Authentication {
  readonly authenticate: (sender: Sender, access: Access) => Promise<Principal>
  /** The caller, without a check of access; null without a valid credential. Rejects with RATE_LIMITED. */
  readonly identify: (sender: Sender) => Promise<Principal | null>
}

/** The API key of the caller. Throws FORBIDDEN for any other caller. */
export function keyOf(principal: Principal): KeyIdentity {
  if (principal.kind === 'key') return principal.key
  throw new PlatformError('FORBIDDEN', 'this endpoint needs an API key (`SvcKey-…`)')
}

/** The signed-in person. Throws FORBIDDEN for any other caller. */
export function personOf(principal: Principal): PersonPrincipal {
  if (principal.kind === 'person') return principal
  throw new PlatformError('FORBIDDEN', 'this endpoint needs a person: sign in first')
}

/** A request acts in the workspace in which it began, and in no other. Throws FORBIDDEN. */
export function assertSameWorkspace(first: Principal, now: Principal): Principal {
  if (first.scope.org_id === now.scope.org_id) return now
  throw new PlatformError(
    'FORBIDDEN',
    'the workspace of the session has changed since this request began: send it again if it is for the present one',
  )
}
