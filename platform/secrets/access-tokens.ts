// Access tokens of sessions (RFC 9068, EdDSA), valid for 15 minutes, in a browser for 12 hours. The signing keys are derived from
// the encryption key and the month, so that they rotate without a shared state and every process has them.
import { createHmac, createPublicKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { signerOf } from '@svc/proof'
import { jwtVerify, SignJWT } from 'jose'
import { keyInvalid } from './encryption-key.js'

export interface Holder {
  readonly person_id: string
  readonly session_id: string
}

export interface AccessTokens {
  /** Throws ENCRYPTION_KEY_INVALID without a key to sign with. */
  readonly require: () => void
  /** Rejects with ENCRYPTION_KEY_INVALID without a key to sign with. */
  readonly issue: (holder: Holder, seconds?: number) => Promise<string>
  /** Null for a text that is not a valid token of this installation. */
  readonly read: (token: string) => Promise<Holder | null>
  /** The CSRF token that a browser sends with its cookie; other sites cannot read it. Throws as `require` does. */
  readonly csrfOf: (session_id: string) => string
  readonly isCsrf: (session_id: string, text: string) => boolean
}

export const accessTokenSeconds = 15 * 60
/** The lifetime of the token in a cookie: a working day. Each request checks the session as well. */
export const browserTokenSeconds = 12 * 3600
/** The time in which one key signs. */
const periodMs = 30 * 86_400_000
const claims = { issuer: 'svc', audience: 'svc', typ: 'at+jwt' } as const

/** `keys`: the first signs, all verify. `clock`: ms since 1970. */
export function createAccessTokens(keys: readonly Uint8Array[], clock: () => number): AccessTokens {
  const currentPeriod = () => Math.floor(clock() / periodMs)
  const signingKey = createKeyCache(keys.length)
  const signing = (): SigningKey => {
    const [key] = keys
    if (key === undefined) throw keyInvalid()
    return signingKey(key, currentPeriod())
  }
  const csrfBy = (key: Uint8Array, session_id: string) =>
    createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'svc.csrf/1', 32)))
      .update(session_id)
      .digest('base64url')
  return {
    csrfOf: (session_id) => {
      const [key] = keys
      if (key === undefined) throw keyInvalid()
      return csrfBy(key, session_id)
    },
    isCsrf: (session_id, text) => keys.some((key) => isSame(csrfBy(key, session_id), text)),
    require: () => {
      signing()
    },
    issue: async ({ person_id, session_id }, seconds = accessTokenSeconds) => {
      const { kid, key } = signing()
      const now = Math.floor(clock() / 1000)
      return new SignJWT({ sid: session_id })
        .setProtectedHeader({ alg: 'EdDSA', typ: claims.typ, kid })
        .setIssuer(claims.issuer)
        .setAudience(claims.audience)
        .setSubject(person_id)
        .setIssuedAt(now)
        .setExpirationTime(now + seconds)
        .sign(key)
    },
    read: async (token) => {
      const known = keys.flatMap((key) => [signingKey(key, currentPeriod()), signingKey(key, currentPeriod() - 1)])
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const found = known.find((one) => one.kid === kid)
            if (found === undefined) throw new Error('unknown signing key')
            return found.public_key
          },
          { ...claims, algorithms: ['EdDSA'], currentDate: new Date(clock()), requiredClaims: ['exp', 'sub', 'sid'] },
        )
        const { sub, sid } = payload
        return typeof sub === 'string' && typeof sid === 'string' ? { person_id: sub, session_id: sid } : null
      } catch {
        return null
      }
    },
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

interface SigningKey {
  /** Identifies the period and the encryption key, without revealing the key. */
  readonly kid: string
  readonly key: KeyObject
  readonly public_key: KeyObject
}

/** Caches derived keys of a few periods: the derivation takes longer than a verification. */
function createKeyCache(count: number): (key: Uint8Array, period: number) => SigningKey {
  const known = new Map<string, SigningKey>()
  return (key, period) => {
    const name = `${period} ${Buffer.from(key).toString('base64')}`
    const found = known.get(name) ?? deriveKey(key, period)
    if (known.size > 4 * count) known.clear()
    known.set(name, found)
    return found
  }
}

function deriveKey(key: Uint8Array, period: number): SigningKey {
  const derived = (what: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `svc.${what}/1 ${period}`, length))
  const kid = `${period}.${derived('kid', 6).toString('hex')}`
  const { private_key } = signerOf('svc', 'note', derived('jwt', 32))
  return { kid, key: private_key, public_key: createPublicKey(private_key) }
}
