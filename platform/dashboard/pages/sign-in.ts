// Signing in with a browser. The page behind a link shows a button, because programs that scan mails follow links and press
// none; pressing it spends the link and leaves cookies that scripts cannot read.

import type { SessionTokens } from '@svc/schemas'
import express, { type Request, type Response, Router } from 'express'
import { sendLink } from '../../access/commands/send-link.js'
import { signIn } from '../../access/commands/sign-in.js'
import { readPersonUnscoped } from '../../access/store/people.js'
import { addressOfLinkUnscoped } from '../../access/store/sessions.js'
import { withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { networkOf, rejectOtherOrigins } from '../../http/client.js'
import { isValid } from '../../http/validate.js'
import { mailboxOf, parseAddress } from '../../mail/address.js'
import type { Holder } from '../../secrets/access-tokens.js'
import { formOf } from '../browser.js'
import { setCookies } from '../cookies.js'
import type { PageParts } from '../parts.js'
import { pageOf, show } from '../views/page.js'

const heading = 'Sign in to svc'
const button = pageOf(
  heading,
  `<p>As <strong>{{email}}</strong>.</p>
<form method="post" action="/auth/magic-link">
<input type="hidden" name="token" value="{{token}}">
<button type="submit">Sign in</button>
</form>
<p>The link works once, within 15 minutes of being asked for.</p>`,
)
const words = pageOf(heading, '<p class="said">{{words}}</p>')
const refused = pageOf(heading, '<p class="said">{{words}}</p>\n<p><a href="/sign-in">Ask for a new link</a></p>')
/** A form that has a link sent to the address somebody types. */
export const askForLink = `<form method="post" action="/sign-in">
<label>Address <input name="email" type="email" autocomplete="email" required></label>
<button>Send the link</button>
</form>`
const ask = pageOf(heading, `<p>A link {{way}}: there are no passwords.</p>\n${askForLink}`)
const signedIn = pageOf(
  'You are signed in',
  `<p>As <strong>{{email}}</strong>. <a href="/account">Your workspaces and what is offered to you</a></p>
<p>In a terminal, go on with <code>svc login --url {{url}}</code>, and let it in on the page it names.</p>`,
)
const isOver = 'This link was used already, or is over.'
export const readForm = express.urlencoded({ extended: false, limit: 10_000, parameterLimit: 10 })

/** GET and POST /sign-in, where a link is asked for, and GET and, from a form, POST /auth/magic-link, where it leads. */
export function signInPage(parts: PageParts): Router {
  const router = Router()
  router.get('/sign-in', (_request, response) => show(response, 200, ask({ way: wayOf(parts) })))
  router.post('/sign-in', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const { email = '' } = formOf(request)
    if (!isAddress(email))
      return show(response, 422, refused({ words: 'This is no address that a link can be sent to.' }))
    await parts.limits.by_address.take(networkOf(request))
    await parts.limits.by_mailbox.take(mailboxOf(email))
    await sendLink(parts, email)
    const said = `A link ${wayOf(parts)}, if the address is right. Open it in this browser.`
    show(response, 200, words({ words: said }))
  })
  router.get('/auth/magic-link', async (request: Request, response: Response) => {
    const token = tokenIn(request.query)
    if (token === null)
      return show(response, 400, words({ words: 'This link is incomplete: open it as it stands in the mail.' }))
    const email = await withUnscopedTransaction(parts.db, (tx) => addressOfLinkUnscoped(tx, parts.clock(), token))
    if (email === null) show(response, 401, refused({ words: isOver }))
    else show(response, 200, button({ token, email }))
  })
  router.post('/auth/magic-link', formOnly, readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    await parts.limits.by_address.take(networkOf(request))
    try {
      const tokens = await signIn(parts, tokenIn((request.body ?? {}) as Record<string, unknown>) ?? '')
      const holder = await holderOf(parts, tokens)
      await setCookies(parts, response, holder)
      show(response, 200, signedIn({ url: parts.url(), email: await emailOf(parts, holder) }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'UNAUTHENTICATED') throw error
      show(response, 401, refused({ words: isOver }))
    }
  })
  return router
}

/** Programs send JSON to the same address, to have a link sent. */
function formOnly(request: Request, _response: Response, next: (way?: 'route') => void): void {
  next(request.is('application/x-www-form-urlencoded') === false ? 'route' : undefined)
}

function wayOf({ sends_mail }: PageParts): string {
  return sends_mail ? 'comes by mail' : 'is printed where the platform was started'
}

/** What a program may send, a person may type. */
function isAddress(email: string): boolean {
  return isValid('magic-link-request', { email }) && parseAddress(email) !== null
}

/** The secret of a link; null where it is missing or incomplete. */
export function tokenIn({ token }: Readonly<Record<string, unknown>>): string | null {
  return typeof token === 'string' && /^[A-Za-z0-9_-]{20,200}$/.test(token) ? token : null
}

export async function holderOf({ access_tokens }: PageParts, { access_token }: SessionTokens): Promise<Holder> {
  const holder = await access_tokens.read(access_token)
  if (holder === null) throw new Error('a token that was just issued cannot be read')
  return holder
}

async function emailOf({ db }: PageParts, { person_id }: Holder): Promise<string> {
  return (await withUnscopedTransaction(db, (tx) => readPersonUnscoped(tx, person_id)))?.email ?? ''
}
