// Device authorization (RFC 8628): a program shows a code, and a signed-in person enters it to approve the program.

import { randomBytes, randomInt } from 'node:crypto'
import type { DeviceCode, SessionTokens } from '@svc/schemas'
import { withUnscopedTransaction } from '../../db/db.js'
import { type ErrorCode, PlatformError } from '../../errors.js'
import type { AccessParts } from '../parts.js'
import { decideDeviceUnscoped, insertDeviceUnscoped, type Polled, pollDeviceUnscoped } from '../store/devices.js'
import { readPersonUnscoped } from '../store/people.js'
import { beginSession, type Session, tokensOf } from './sign-in.js'

const lifetimeSeconds = 600
const intervalSeconds = 5
/** Consonants only: they form no words and are not easily confused (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

/** Starts an authorization. Rejects with ENCRYPTION_KEY_INVALID where no tokens can be issued. */
export async function beginDevice({ db, clock, url, access_tokens }: AccessParts): Promise<DeviceCode> {
  access_tokens.require()
  const now = clock()
  const device_code = `SvcDevice-${randomBytes(32).toString('base64url')}`
  const user_code = [4, 4]
    .map((count) => Array.from({ length: count }, () => letters[randomInt(letters.length)]).join(''))
    .join('-')
  const until = now + lifetimeSeconds * 1000
  await withUnscopedTransaction(db, (tx) => insertDeviceUnscoped(tx, now, { secret: device_code, user_code, until }))
  const verification_uri = `${url()}/device`
  return {
    device_code,
    user_code,
    verification_uri,
    verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
    expires_in: lifetimeSeconds,
    interval: intervalSeconds,
  }
}

/** Approves or denies a program. Rejects with NOT_FOUND when no program is waiting with this code. */
export async function decideDevice(
  { db, clock }: AccessParts,
  person_id: string,
  typed: string,
  approve: boolean,
): Promise<void> {
  const plain = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const user_code = `${plain.slice(0, 4)}-${plain.slice(4)}`
  const state = approve ? 'approved' : 'denied'
  const known = await withUnscopedTransaction(db, (tx) =>
    decideDeviceUnscoped(tx, clock(), { user_code, person_id, state }),
  )
  if (!known)
    throw new PlatformError(
      'NOT_FOUND',
      'no program is waiting with this code: check the code, or start the program again',
    )
}

/** The tokens of an approved program. Rejects with the reason for a program in any other state. */
export async function pollDevice(parts: AccessParts, secret: string): Promise<SessionTokens> {
  const { db, clock } = parts
  const now = clock()
  const session = await withUnscopedTransaction(db, async (tx): Promise<Session | ErrorCode> => {
    const polled = await pollDeviceUnscoped(tx, now, secret)
    const reason = reasonOf(polled)
    if (reason !== null) return reason
    const person = await readPersonUnscoped(tx, polled?.person_id ?? '')
    return person === null ? 'ACCESS_DENIED' : beginSession(tx, now, person)
  })
  if (typeof session === 'string') throw new PlatformError(session, messages[session] ?? 'not possible now')
  return tokensOf(parts, session)
}

function reasonOf(polled: Polled | null): ErrorCode | null {
  if (polled === null || polled.state === 'used') return 'INVALID_GRANT'
  if (polled.is_expired) return 'EXPIRED_TOKEN'
  if (polled.too_soon) return 'SLOW_DOWN'
  if (polled.state === 'denied') return 'ACCESS_DENIED'
  return polled.state === 'pending' ? 'AUTHORIZATION_PENDING' : null
}

const messages: Partial<Readonly<Record<ErrorCode, string>>> = {
  AUTHORIZATION_PENDING: 'the person has not decided yet: poll again after the interval',
  SLOW_DOWN: 'the program polls too often: the interval is now 5 seconds longer',
  ACCESS_DENIED: 'the person has denied the request',
  EXPIRED_TOKEN: 'the code has expired: start again at /auth/device/code',
  INVALID_GRANT: 'the `device_code` is unknown or was already used: start again at /auth/device/code',
}
