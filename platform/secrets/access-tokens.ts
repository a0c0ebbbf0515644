// Access tokens: signed statements of who holds which session, good for a quarter of an hour, in a browser for a day (RFC 9068, EdDSA). Their keys
// follow from the encryption key and the month, so that they rotate by themselves and every process knows them.
import { createHmac, createPublicKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { signerOf } from '@svc/proof'
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
  readonly issue: (holder: Holder, seconds?: number) => Promise<string>
  /** Null for whatever is not a token of this installation that is still good. */
  readonly read: (token: string) => Promise<Holder | null>
  /** What a browser must send besides its cookie, so that no other page can act for it. Throws as `require` does. */
  readonly csrfOf: (session_id: string) => string
  readonly isCsrf: (session_id: string, text: string) => boolean
}

/** Seconds. */
export const accessLifetime = 15 * 60
/** Of the token in a browser's cookie: a working day. The session behind it is looked up at each request all the same. */
export const browserLifetime = 12 * 3600
/** How long one key signs, ms. */
const epochLength = 30 * 86_400_000
const claims = { issuer: 'svc', audience: 'svc', typ: 'at+jwt' } as const

/** `keys`: the first signs, all verify. `clock`: ms since 1970. */
export function createAccessTokens(keys: readonly Uint8Array[], clock: () => number): AccessTokens {
  const current = () => Math.floor(clock() / epochLength)
  const signingKey = remembered(keys.length)
  const signing = (): SigningKey => {
    const [key] = keys
    if (key === undefined) throw keyInvalid()
    return signingKey(key, current())
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
    issue: async ({ person_id, session_id }, seconds = accessLifetime) => {
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
      const known = keys.flatMap((key) => [signingKey(key, current()), signingKey(key, current() - 1)])
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const found = known.find((one) => one.kid === kid)
            if (found === undefined) throw new Error('a key nobody here signs with')
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
  /** Names the month and, without telling it, the key that it follows from. */
  readonly kid: string
  readonly key: KeyObject
  readonly public_key: KeyObject
}

/** Keys that were derived, for the few months they are used in: deriving takes longer than verifying. */
function remembered(count: number): (key: Uint8Array, epoch: number) => SigningKey {
  const known = new Map<string, SigningKey>()
  return (key, epoch) => {
    const name = `${epoch} ${Buffer.from(key).toString('base64')}`
    const found = known.get(name) ?? derivedKey(key, epoch)
    if (known.size > 4 * count) known.clear()
    known.set(name, found)
    return found
  }
}

function derivedKey(key: Uint8Array, epoch: number): SigningKey {
  const derived = (what: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `svc.${what}/1 ${epoch}`, length))
  const kid = `${epoch}.${derived('kid', 6).toString('hex')}`
  const { private_key } = signerOf('svc', 'note', derived('jwt', 32))
  return { kid, key: private_key, public_key: createPublicKey(private_key) }
}
