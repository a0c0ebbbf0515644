// Sets and clears the cookies of a signed-in browser.

import type { SessionTokens } from '@svc/schemas'
import type { CookieOptions, Request, Response } from 'express'
import { cookieNames } from '../access/person-authentication.js'
import { isSecure } from '../http/client.js'
import { browserTokenSeconds } from '../secrets/access-tokens.js'
import type { PageParts } from './parts.js'
import type { Theme } from './views/frame.js'

/** Signs the browser in with the session of these tokens. Rejects with ENCRYPTION_KEY_INVALID without a key to sign with. */
export async function setCookies(parts: PageParts, response: Response, tokens: SessionTokens): Promise<void> {
  const { issue, read, csrfOf } = parts.access_tokens
  const holder = await read(tokens.access_token)
  if (holder === null) throw new Error('a token that was just issued cannot be read')
  const names = cookieNames(parts)
  const lasting = { ...optionsOf(parts), maxAge: browserTokenSeconds * 1000 }
  response.cookie(names.access, await issue(holder, browserTokenSeconds), { ...lasting, httpOnly: true })
  response.cookie(names.csrf, csrfOf(holder.session_id), lasting)
}

/** Signs the browser out. Browsers clear a `__Host-` cookie only with the attributes it was set with. */
export function clearCookies(parts: PageParts, response: Response): void {
  for (const name of Object.values(cookieNames(parts))) response.clearCookie(name, optionsOf(parts))
}

function optionsOf(parts: PageParts): CookieOptions {
  return { sameSite: 'lax', secure: isSecure(parts.url()), path: '/' }
}

const themeCookie = 'svc_theme'

/** The colours that the person has chosen; null for those of the system. */
export function themeIn({ headers: { cookie = '' } }: Request): Theme | null {
  const chosen = /(?:^|;\s*)svc_theme=(light|dark)(?:;|$)/.exec(cookie)?.[1]
  return chosen === 'light' || chosen === 'dark' ? chosen : null
}

/** Keeps the choice of colours for a year; a script of the page may read it. */
export function setTheme(parts: PageParts, response: Response, theme: Theme): void {
  response.cookie(themeCookie, theme, { ...optionsOf(parts), maxAge: 31_536_000_000 })
}
