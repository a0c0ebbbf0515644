// Sets and clears the cookies of a signed-in browser.

import type { SessionTokens } from '@svc/schemas'
import type { CookieOptions, Response } from 'express'
import { cookieNames } from '../access/person-authentication.js'
import { isSecure } from '../http/client.js'
import { browserTokenSeconds, type Holder } from '../secrets/access-tokens.js'
import type { PageParts } from './parts.js'

/** Signs the browser in with the session of these tokens. Rejects with ENCRYPTION_KEY_INVALID without a key to sign with. */
export async function setCookies(parts: PageParts, response: Response, tokens: SessionTokens): Promise<Holder> {
  const { issue, read, csrfOf } = parts.access_tokens
  const holder = await read(tokens.access_token)
  if (holder === null) throw new Error('a token that was just issued cannot be read')
  const names = cookieNames(parts)
  const lasting = { ...optionsOf(parts), maxAge: browserTokenSeconds * 1000 }
  response.cookie(names.access, await issue(holder, browserTokenSeconds), { ...lasting, httpOnly: true })
  response.cookie(names.csrf, csrfOf(holder.session_id), lasting)
  return holder
}

/** Signs the browser out. Browsers clear a `__Host-` cookie only with the attributes it was set with. */
export function clearCookies(parts: PageParts, response: Response): void {
  for (const name of Object.values(cookieNames(parts))) response.clearCookie(name, optionsOf(parts))
}

function optionsOf(parts: PageParts): CookieOptions {
  return { sameSite: 'lax', secure: isSecure(parts.url()), path: '/' }
}
