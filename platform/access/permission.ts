// What a caller is allowed to call.
import { onlyFor, PlatformError } from '../errors.js'
import type { Access, PersonPrincipal, Principal, Role } from '../http/principal.js'

/** Passes the principal on where the route allows it. Throws FORBIDDEN. */
export function assertAllowed(principal: Principal, { kinds, key_scope, roles }: Access): Principal {
  if (!kinds.includes(principal.kind)) {
    const wanted = kinds.includes('key') ? 'an API key (`SvcKey-…`)' : 'a person who is signed in'
    throw new PlatformError('FORBIDDEN', `this needs ${wanted}`)
  }
  if (principal.kind === 'key' && !principal.key.scopes.includes(key_scope))
    throw new PlatformError('FORBIDDEN', `this key may not do this: it lacks the scope \`${key_scope}\``)
  if (principal.kind === 'person' && roles !== null) assertRole(principal, roles)
  return principal
}

/** The answer to a waitlisted account in its own workspace. */
export const waitlisted =
  'this account is on the waiting list: its own workspace opens when the operator releases it; a workspace it is invited to is open'

function assertRole({ is_waitlisted, is_suspended, role }: PersonPrincipal, roles: readonly Role[]): void {
  if (is_waitlisted) throw new PlatformError('FORBIDDEN', waitlisted)
  if (is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (role === null)
    throw new PlatformError('FORBIDDEN', 'this account is no member of the workspace: switch to another')
  if (!roles.includes(role)) throw onlyFor(roles, role)
}
