// Access tokens: signed statements of who holds which session, good for a quarter of an hour (RFC 9068, EdDSA). Their keys
// follow from the encryption key and the month, so that they rotate by themselves and every process knows them.
import { createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import { signerOf } from '@svc/engine'
import { jwtVerify, SignJWT } from 'jose'
import { keyInvalid } from './encryption-key.js'

export interface Holder {
  readonly person_id: string
  readonly session_id: string
}

export interface AccessTokens {
  /** Throws ENCRYPTION_KEY_INVALID where there is no key to sign with. */
  readonly require: () => void
  /** Rejects with ENCRYPTION_KEY_INVALID where there is no key to sign with. */
  readonly issue: (holder: Holder) => Promise<string>
  /** Null for whatever is not a token of this installation that is still good. */
  readonly read: (token: string) => Promise<Holder | null>
}

/** Seconds. */
export const accessLifetime = 15 * 60
/** How long one key signs, ms. */
const epochLength = 30 * 86_400_000
const claims = { issuer: 'svc', audience: 'svc', typ: 'at+jwt' } as const

/** `clock`: ms since 1970. */
export function createAccessTokens(encryption_key: Buffer | null, clock: () => number): AccessTokens {
  const keyOf = (epoch: number): KeyObject => {
    if (encryption_key === null) throw keyInvalid()
    const seed = Buffer.from(hkdfSync('sha256', encryption_key, '', `svc.jwt/1 ${epoch}`, 32))
    return signerOf('svc', 'note', seed).private_key
  }
  const current = () => Math.floor(clock() / epochLength)
  return {
    require: () => {
      if (encryption_key === null) throw keyInvalid()
    },
    issue: async ({ person_id, session_id }) => {
      const epoch = current()
      const now = Math.floor(clock() / 1000)
      return new SignJWT({ sid: session_id })
        .setProtectedHeader({ alg: 'EdDSA', typ: claims.typ, kid: String(epoch) })
        .setIssuer(claims.issuer)
        .setAudience(claims.audience)
        .setSubject(person_id)
        .setIssuedAt(now)
        .setExpirationTime(now + accessLifetime)
        .sign(keyOf(epoch))
    },
    read: async (token) => {
      if (encryption_key === null) return null
      const known = [current(), current() - 1].map(String)
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            if (kid === undefined || !known.includes(kid)) throw new Error('a key nobody here signs with')
            return createPublicKey(keyOf(Number(kid)))
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
