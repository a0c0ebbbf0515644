// The checks of a caller's rights, and their errors.
import { onlyFor, PlatformError } from '../errors.js'
import type { Access, PersonPrincipal, Principal, Role } from '../http/principal.js'

/** UNAUTHENTICATED, with the challenge of RFC 6750 §3. */
export function unauthenticated(detail: string): PlatformError {
  return new PlatformError('UNAUTHENTICATED', detail, { headers: { 'www-authenticate': 'Bearer realm="svc"' } })
}

/** Returns the principal where the route allows it. Throws FORBIDDEN. */
export function assertAllowed(principal: Principal, { kinds, key_scope, roles }: Access): Principal {
  if (!kinds.includes(principal.kind)) {
    throw new PlatformError('FORBIDDEN', `this endpoint needs ${callerOf(kinds, principal.kind)}`)
  }
  if (principal.kind === 'key' && !principal.key.scopes.includes(key_scope))
    throw new PlatformError('FORBIDDEN', `this API key lacks the scope \`${key_scope}\``)
  if (principal.kind === 'person' && roles !== null) assertRole(principal, roles)
  return principal
}

function callerOf(kinds: Access['kinds'], sent: Principal['kind']): string {
  if (kinds.includes('key')) return 'an API key (`SvcKey-…`)'
  if (sent === 'operator')
    return 'a signed-in person, and the operator token names none: sign in with `svc login`, or with a link that `svc-platform admin sign-in-link EMAIL` prints'
  const operator = kinds.includes('operator') ? ', or the operator token of a local install' : ''
  return `a signed-in person: send an access token${operator}, not an API key`
}

/** The message for a waitlisted account in its personal workspace. */
export const waitlisted =
  'this account is waitlisted: its personal workspace opens when the operator releases the account; workspaces that it joins by invitation are open'

function assertRole({ is_waitlisted, is_suspended, role }: PersonPrincipal, roles: readonly Role[]): void {
  if (is_waitlisted) throw new PlatformError('FORBIDDEN', waitlisted)
  if (is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (role === null)
    throw new PlatformError('FORBIDDEN', 'this account is not a member of the workspace: switch to another one')
  if (!roles.includes(role)) throw onlyFor(roles, role)
}
