// Signing in with a browser. The page behind a link shows a button, because programs that scan mails follow links and press
// none; pressing it spends the link and leaves cookies that scripts cannot read.

import type { SessionTokens } from '@svc/schemas'
import express, { type Request, type Response, Router } from 'express'
import { signIn } from '../commands/sign-in.js'
import { PlatformError } from '../errors.js'
import { type Authentication, cookies } from '../http/auth.js'
import { pageOf, refuseStrangers, show } from '../http/pages.js'
import type { Platform } from '../platform.js'
import { accessLifetime } from '../secrets/access-tokens.js'

const heading = 'Sign in to svc'
const button = pageOf(
  heading,
  `<form method="post" action="/auth/magic-link">
<input type="hidden" name="token" value="{{token}}">
<button type="submit">Sign in</button>
</form>
<p>The link works once, within 15 minutes of being asked for.</p>`,
)
const words = pageOf(heading, '<p>{{words}}</p>')

const readForm = express.urlencoded({ extended: false, limit: 10_000, parameterLimit: 10 })

/** GET and, from a form, POST /auth/magic-link/open. */
export function signInPage(platform: Platform, { csrfOf }: Authentication): Router {
  const router = Router()
  router.get('/auth/magic-link', (request, response) => {
    const token = tokenIn(request.query)
    if (token === null)
      show(response, 400, words({ words: 'This link is incomplete: open it as it stands in the mail.' }))
    else show(response, 200, button({ token }))
  })
  router.post('/auth/magic-link', formOnly, readForm, async (request: Request, response: Response) => {
    refuseStrangers(request)
    platform.limits.by_address.take(request.socket.remoteAddress ?? '')
    try {
      const tokens = await signIn(platform, tokenIn((request.body ?? {}) as Record<string, unknown>) ?? '')
      setCookies(request, response, tokens, csrfOf)
      show(response, 200, words({ words: 'You are signed in.' }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'UNAUTHENTICATED') throw error
      show(response, 401, words({ words: `You are not signed in: ${error.message}.` }))
    }
  })
  return router
}

/** Programs send JSON to the same address, to have a link sent. */
function formOnly(request: Request, _response: Response, next: (way?: 'route') => void): void {
  next(request.is('application/x-www-form-urlencoded') === false ? 'route' : undefined)
}

function tokenIn({ token }: Readonly<Record<string, unknown>>): string | null {
  return typeof token === 'string' && /^[A-Za-z0-9_-]{20,200}$/.test(token) ? token : null
}

function setCookies(
  request: Request,
  response: Response,
  tokens: SessionTokens,
  csrfOf: (session_id: string) => string,
): void {
  const [, claims = ''] = tokens.access_token.split('.')
  const { sid } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string }
  const secure = !/^(127\.|::1$|::ffff:127\.)/.test(request.socket.remoteAddress ?? '')
  const shared = { sameSite: 'lax', secure, path: '/', maxAge: accessLifetime * 1000 } as const
  response.cookie(cookies.access, tokens.access_token, { ...shared, httpOnly: true })
  response.cookie(cookies.csrf, csrfOf(sid), shared)
}
