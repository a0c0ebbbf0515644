// Sign-in with a browser. Mail scanners follow links but press no buttons, so the page of a link only shows a button, which
// uses the link up and sets cookies that scripts cannot read.

import { type Request, type Response, Router } from 'express'
import { sendLink } from '../../access/commands/send-link.js'
import { signIn } from '../../access/commands/sign-in.js'
import { addressOfLinkUnscoped } from '../../access/store/sessions.js'
import { withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { networkOf, rejectOtherOrigins } from '../../http/client.js'
import { isValid } from '../../http/validate.js'
import { mailboxOf, parseAddress } from '../../mail/address.js'
import { formOf, readForm, returnIn, signInAddress, tokenIn } from '../browser.js'
import { setCookies } from '../cookies.js'
import type { PageParts } from '../parts.js'
import { paths } from '../paths.js'
import { pageOf, show } from '../views/page.js'

const heading = 'Sign in to svc'
const button = pageOf(
  heading,
  `<p>Sign in as <strong>{{email}}</strong>.</p>
<form method="post" action="/auth/magic-link">
<input type="hidden" name="token" value="{{token}}"><input type="hidden" name="return_to" value="{{return_to}}">
<button type="submit">Sign in</button>
</form>
<p>The link works once, for 15 minutes.</p>`,
)
const notice = pageOf(heading, '<p class="message">{{message}}</p>')
const rejection = pageOf(
  heading,
  '<p class="message">{{message}}</p>\n<p><a href="{{link}}">Request a new link</a></p>',
)
/** The form that requests a sign-in link. */
export const linkForm = `<form method="post" action="/sign-in">
<input type="hidden" name="return_to" value="{{return_to}}">
<label>Address <input name="email" type="email" autocomplete="email" required></label>
<button>Send a link</button>
</form>`
const requestLink = pageOf(
  heading,
  `<p>You sign in with a link, without a password. The link {{delivery}}.</p>\n${linkForm}`,
)
const linkIncomplete = 'This link is incomplete. Open the complete link of the mail, or request a new one.'
const linkEnded = 'This link has expired or was already used.'

/** The message with the way to a new link. */
function rejected(message: string, return_to: string): string {
  return rejection({ message, link: signInAddress(return_to) })
}

/** GET and POST /sign-in, which request a link, and GET and POST /auth/magic-link, the target of the link. */
export function signInPage(parts: PageParts): Router {
  const router = Router()
  router.get('/sign-in', ({ query }: Request, response: Response) =>
    show(response, 200, requestLink({ delivery: deliveryOf(parts), return_to: returnIn(query) })),
  )
  router.post('/sign-in', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const form = formOf(request)
    const { email = '' } = form
    const return_to = returnIn(form)
    if (!isAddress(email)) return show(response, 422, rejected('This is not a valid mail address.', return_to))
    await parts.limits.by_address.take(networkOf(request))
    await parts.limits.by_mailbox.take(mailboxOf(email))
    await sendLink(parts, email, return_to)
    const message = `If the address is correct, a link ${deliveryOf(parts)}. Open it in this browser.`
    show(response, 200, notice({ message }))
  })
  router.get('/auth/magic-link', async (request: Request, response: Response) => {
    const token = tokenIn(request.query)
    const return_to = returnIn(request.query)
    if (token === null) return show(response, 400, rejected(linkIncomplete, return_to))
    const email = await withUnscopedTransaction(parts.db, (tx) => addressOfLinkUnscoped(tx, parts.clock(), token))
    if (email === null) show(response, 401, rejected(linkEnded, return_to))
    else show(response, 200, button({ token, email, return_to }))
  })
  router.post('/auth/magic-link', formOnly, readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    await parts.limits.by_address.take(networkOf(request))
    const form = formOf(request)
    const return_to = returnIn(form)
    try {
      const tokens = await signIn(parts, tokenIn(form) ?? '')
      await setCookies(parts, response, tokens)
      response.redirect(303, return_to || paths.overview)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'UNAUTHENTICATED') throw error
      show(response, 401, rejected(linkEnded, return_to))
    }
  })
  return router
}

/** Leaves requests with JSON at the same path to the API. */
function formOnly(request: Request, _response: Response, next: (way?: 'route') => void): void {
  next(request.is('application/x-www-form-urlencoded') === false ? 'route' : undefined)
}

function deliveryOf({ sends_mail }: PageParts): string {
  return sends_mail ? 'is sent by mail' : 'is printed in the terminal of the platform'
}

/** Pages accept the same addresses as the API. */
function isAddress(email: string): boolean {
  return isValid('magic-link-request', { email }) && parseAddress(email) !== null
}
