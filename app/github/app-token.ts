// The token by which the App itself is known to GitHub: a JWT (RFC 7519), signed with the private key of the App.
import { createPrivateKey, sign } from 'node:crypto'

/** A clock that is up to a minute ahead of GitHub's makes valid tokens. */
const backdatedSeconds = 60
/** GitHub accepts ten minutes. */
const validSeconds = 540

export interface AppKey {
  readonly app_id: number
  /** PEM. */
  readonly private_key: string
}

/** `now` in ms since 1970. */
export function appToken({ app_id, private_key }: AppKey, now: number): string {
  const seconds = Math.floor(now / 1000)
  const head = encoded({ alg: 'RS256', typ: 'JWT' })
  const claims = encoded({ iat: seconds - backdatedSeconds, exp: seconds + validSeconds, iss: String(app_id) })
  const signature = sign('sha256', Buffer.from(`${head}.${claims}`), createPrivateKey(private_key))
  return `${head}.${claims}.${signature.toString('base64url')}`
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
