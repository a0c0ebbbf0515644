// The page of an invitation link. Mail scanners follow links but press no buttons, so opening the page changes nothing, and its
// button signs in and accepts.

import type { Offer } from '@svc/schemas'
import { type Request, type Response, Router } from 'express'
import { acceptInvitation, readInvitation } from '../../access/commands/accept-invitation.js'
import { PlatformError } from '../../errors.js'
import { networkOf, rejectOtherOrigins } from '../../http/client.js'
import { formOf, readForm, tokenIn, visitorOf } from '../browser.js'
import { setCookies } from '../cookies.js'
import type { PageParts } from '../parts.js'
import { pageOf, sentenceOf, show } from '../views/page.js'

const heading = 'Your invitation'
const button = pageOf(
  heading,
  `<p class="message"><strong>{{workspace}}</strong> invites <strong>{{email}}</strong> to join as {{role}}.</p>
<form method="post" action="/auth/invitation">
<input type="hidden" name="token" value="{{token}}">
<button type="submit">Sign in and accept</button>
</form>
<p>The link works once, for this address only. To decline, <a href="/sign-in">sign in</a> and open your account page.</p>`,
)
const notice = pageOf(heading, '<p class="message">{{message}}</p>\n<p><a href="{{link}}">{{next}}</a></p>')
const otherPerson = pageOf(
  heading,
  `<p class="message">You are signed in as <strong>{{own}}</strong>, but this invitation is for <strong>{{email}}</strong>.</p>
<p>Sign out and open the link again, or open it in another browser.</p>
<form method="post" action="/account">
<input type="hidden" name="csrf" value="{{csrf}}"><button name="act" value="logout">Sign out</button>
</form>`,
)
const accepted = pageOf(
  'Invitation accepted',
  `<p class="message">You are signed in as <strong>{{email}}</strong> and work in <strong>{{workspace}}</strong> as {{role}}.</p>
<p><a href="/">Open the dashboard</a></p>
<p>In a terminal, continue with <code>npx --no-install svc login --url {{url}}</code>.</p>`,
)

/** The reason why an invitation cannot be accepted. */
const ended: Readonly<Record<Exclude<Offer['state'], 'pending'>, string>> = {
  accepted: 'This invitation was already accepted.',
  declined: 'This invitation was declined.',
  revoked: 'This invitation was revoked.',
  expired: 'This invitation has expired: it was valid for seven days.',
}

/** GET and POST /auth/invitation. */
export function invitationPage(parts: PageParts): Router {
  const router = Router()
  /** The invitation if this browser can accept it; otherwise shows the reason and returns null. */
  const openFor = async (request: Request, response: Response, token: string | null): Promise<Offer | null> => {
    const offer = token === null ? null : await readInvitation(parts, token)
    const visitor = await visitorOf(parts, request, null)
    if (offer === null) {
      const message = 'This link is invalid. Open the complete link of the mail, or ask for another invitation.'
      show(response, 404, notice({ message, link: '/sign-in', next: 'Sign in' }))
    } else if (offer.state !== 'pending') show(response, 410, notice(endOf(offer, visitor !== null)))
    else if (visitor !== null && visitor.email !== offer.email) {
      const csrf = parts.access_tokens.csrfOf(visitor.person.session_id)
      show(response, 409, otherPerson({ own: visitor.email, email: offer.email, csrf }))
    } else return offer
    return null
  }
  router.get('/auth/invitation', async (request: Request, response: Response) => {
    const token = tokenIn(request.query)
    const offer = await openFor(request, response, token)
    if (offer !== null) show(response, 200, button({ ...viewOf(offer), token: token ?? '' }))
  })
  router.post('/auth/invitation', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    await parts.limits.by_address.take(networkOf(request))
    const token = tokenIn(formOf(request)) ?? ''
    const offer = await openFor(request, response, token)
    if (offer === null) return
    try {
      const tokens = await acceptInvitation(parts, token)
      await setCookies(parts, response, tokens)
      show(response, 200, accepted({ ...viewOf(offer), url: parts.url() }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'UNAVAILABLE') throw error
      // The invitation may have ended since the page was opened.
      if ((await openFor(request, response, token)) === null) return
      const message = sentenceOf(error.message)
      show(response, 409, notice({ message, link: '/account', next: 'Your account' }))
    }
  })
  return router
}

function viewOf({ workspace, email, role }: Offer) {
  return { workspace, email, role }
}

function endOf({ state, workspace }: Offer, is_signed_in: boolean) {
  const message = ended[state as keyof typeof ended]
  const account = is_signed_in ? { link: '/account', next: 'Your account' } : { link: '/sign-in', next: 'Sign in' }
  if (state === 'accepted') return { message, ...account }
  return { message: `${message} Ask an administrator of ${workspace} for another one.`, ...account }
}
