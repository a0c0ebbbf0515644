// The page where a person approves a program, such as the command `svc login`.

import { type Request, type Response, Router } from 'express'
import { decideDevice } from '../../access/commands/authorize-device.js'
import { PlatformError } from '../../errors.js'
import { rejectOtherOrigins } from '../../http/client.js'
import { formOf, readForm, visitorOf } from '../browser.js'
import type { PageParts } from '../parts.js'
import { pageOf, show } from '../views/page.js'
import { linkForm } from './sign-in.js'

const heading = 'Approve a program'
const ask = pageOf(
  heading,
  `<p>A program asks for access to your account, <strong>{{email}}</strong>. Approve it only if you started it and it shows this
code.</p>
<form method="post" action="/device">
<input type="hidden" name="csrf" value="{{csrf}}">
<label>Code in your terminal <input name="user_code" value="{{user_code}}" autocomplete="off" required></label>
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny" class="quiet">Deny</button>
</form>
<p>Not your account? <a href="/account">Sign out first</a></p>`,
)
const signInFirst = pageOf(
  heading,
  `<p>Sign in first with a link. Then open this page again.</p>
${linkForm}`,
)
const done = pageOf(heading, '<p class="message">{{message}}</p>')
const retry = pageOf(heading, '<p class="message">{{message}}</p>\n<p><a href="/device">Try again</a></p>')

/** GET and POST /device. */
export function devicePage(parts: PageParts): Router {
  const router = Router()
  router.get('/device', async (request: Request, response: Response) => {
    const visitor = await visitorOf(parts, request, null)
    const { user_code } = request.query
    const typed = typeof user_code === 'string' && /^[A-Za-z-]{8,12}$/.test(user_code) ? user_code : ''
    if (visitor === null) return show(response, 200, signInFirst({ return_to: '' }))
    const csrf = parts.access_tokens.csrfOf(visitor.person.session_id)
    show(response, 200, ask({ user_code: typed, csrf, email: visitor.email }))
  })
  router.post('/device', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const { user_code = '', decision, csrf = '' } = formOf(request)
    const visitor = await visitorOf(parts, request, csrf)
    if (visitor === null) return show(response, 403, retry({ message: 'This form has expired. Open the page again.' }))
    const { person_id } = visitor.person
    await parts.limits.by_person.take(person_id)
    try {
      const approve = decision === 'approve'
      await decideDevice(parts, person_id, user_code, approve)
      show(
        response,
        200,
        done({ message: approve ? 'The program has access. Return to it.' : 'The program was denied.' }),
      )
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'NOT_FOUND') throw error
      show(
        response,
        404,
        retry({
          message: 'This code is wrong, was already used or has expired. Check it, or start the program again.',
        }),
      )
    }
  })
  return router
}
