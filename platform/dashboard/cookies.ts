// The cookies of a browser that has signed in: set, named and cleared here.
import type { CookieOptions, Response } from 'express'
import type { Platform } from '../platform.js'
import { browserLifetime, type Holder } from '../secrets/access-tokens.js'
import { cookieNames } from '../access/authentication.js'
import { isSecure } from '../http/client.js'

/** Signs the browser in. Rejects with ENCRYPTION_KEY_INVALID where there is no key to sign with. */
export async function setCookies(platform: Platform, response: Response, holder: Holder): Promise<void> {
  const { issue, csrfOf } = platform.access_tokens
  const names = cookieNames(platform)
  const lasting = { ...optionsOf(platform), maxAge: browserLifetime * 1000 }
  response.cookie(names.access, await issue(holder, browserLifetime), { ...lasting, httpOnly: true })
  response.cookie(names.csrf, csrfOf(holder.session_id), lasting)
}

/** Signs the browser out. A browser ignores the clearing of a `__Host-` cookie without these attributes. */
export function clearCookies(platform: Platform, response: Response): void {
  for (const name of Object.values(cookieNames(platform))) response.clearCookie(name, optionsOf(platform))
}

function optionsOf(platform: Platform): CookieOptions {
  return { sameSite: 'lax', secure: isSecure(platform), path: '/' }
}
