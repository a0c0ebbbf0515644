// The caller of a request: an API key, a signed-in person, the operator of this install, or anonymous.
import type { Authentication, Sender } from '../http/principal.js'
import type { AccessParts } from './parts.js'
import { assertAllowed, unauthenticated } from './permission.js'
import { noScope, personOfCookie, personOfToken } from './person-authentication.js'
import { createSecretAuthentication, type Operator } from './secret-authentication.js'

const signedToken = /^eyJ[^.]*\.[^.]+\.[^.]+$/

/** Rejects with UNAUTHENTICATED, or FORBIDDEN when the credential is valid and the route does not allow its principal. */
export function createAuthentication(parts: AccessParts, operator: Operator): Authentication {
  const principalOfSecret = createSecretAuthentication(parts, operator)
  const identify: Authentication['identify'] = async (sender) => {
    const token = tokenOf(sender)
    if (token === undefined) return sender.cookie === undefined ? null : personOfCookie(parts, sender)
    // Signed tokens are not counted as attempts: they cannot be guessed, and an expired token is not an attack.
    return signedToken.test(token) ? personOfToken(parts, token) : principalOfSecret(token, sender.network)
  }
  const authenticate: Authentication['authenticate'] = async (sender, access) => {
    if (access.kinds.includes('anonymous')) return { kind: 'anonymous', scope: noScope }
    const principal = await identify(sender)
    if (principal !== null) return assertAllowed(principal, access)
    throw unauthenticated(adviceFor(tokenOf(sender)))
  }
  return { authenticate, identify }
}

function adviceFor(token: string | undefined): string {
  if (token === undefined) return 'send `Authorization: Bearer …` with an API key or a token'
  if (token.startsWith('SvcLocal-'))
    return 'the operator token is not valid here: use the `operator_token` in `credentials.json` of the data directory of the platform, or the value of its `SVC_OPERATOR_TOKEN`'
  return 'the credential is not valid here: create an API key with `svc key create NAME`, or read the first one in `data/credentials.json`'
}

function tokenOf({ authorization }: Sender): string | undefined {
  return /^Bearer ([!-~]{1,2000})$/i.exec(authorization ?? '')?.[1]
}
