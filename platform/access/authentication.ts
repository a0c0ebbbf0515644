// The caller of a request: an API key, a person who is signed in, the operator of this install, or anonymous.
import { PlatformError } from '../errors.js'
import type { Authentication, Sender } from '../http/principal.js'
import type { AccessParts } from './parts.js'
import { assertAllowed } from './permission.js'
import { noScope, personOfCookie, personOfToken } from './person-authentication.js'
import { createSecretAuthentication, type Operator } from './secret-authentication.js'

const challenge = { 'www-authenticate': 'Bearer realm="svc"' }
const signedToken = /^eyJ[^.]*\.[^.]+\.[^.]+$/

/** Rejects with UNAUTHENTICATED, or FORBIDDEN when the credential is valid and the route does not allow its principal. */
export function createAuthentication(parts: AccessParts, operator: Operator): Authentication {
  const principalOfSecret = createSecretAuthentication(parts, operator)
  const identify: Authentication['identify'] = async (sender) => {
    const token = tokenOf(sender)
    if (token === undefined) return sender.cookie === undefined ? null : personOfCookie(parts, sender)
    // A signed token cannot be guessed, and one that has just expired is not an attack: these are not counted.
    return signedToken.test(token) ? personOfToken(parts, token) : principalOfSecret(token, sender.network)
  }
  const authenticate: Authentication['authenticate'] = async (sender, access) => {
    if (access.kinds.includes('anonymous')) return { kind: 'anonymous', scope: noScope }
    const principal = await identify(sender)
    if (principal !== null) return assertAllowed(principal, access)
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
