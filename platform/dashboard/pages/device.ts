// The page where a person lets a program in, such as the command `svc login`.

import { type Request, type Response, Router } from 'express'
import { decideDevice } from '../../access/commands/device.js'
import { PlatformError } from '../../errors.js'
import { rejectOtherOrigins } from '../../http/client.js'
import { formOf, visitorOf } from '../browser.js'
import type { PageParts } from '../parts.js'
import { pageOf, show } from '../views/page.js'
import { askForLink, readForm } from './sign-in.js'

const heading = 'Let a program in'
const ask = pageOf(
  heading,
  `<p>A program asks to work with your account, <strong>{{email}}</strong>. Let it in only if it shows this very code, and you
started it.</p>
<form method="post" action="/device">
<input type="hidden" name="csrf" value="{{csrf}}">
<label>The code your terminal shows <input name="user_code" value="{{user_code}}" autocomplete="off" required></label>
<button name="decision" value="approve">Let it in</button>
<button name="decision" value="deny" class="quiet">Refuse</button>
</form>
<p>Not you? <a href="/account">Sign out first</a></p>`,
)
const signInFirst = pageOf(
  heading,
  `<p>Sign in first: a link comes by mail. Then open this page again.</p>
${askForLink}`,
)
const words = pageOf(heading, '<p class="said">{{words}}</p>')
const again = pageOf(heading, '<p class="said">{{words}}</p>\n<p><a href="/device">Try again</a></p>')

/** GET and POST /device. */
export function devicePage(parts: PageParts): Router {
  const router = Router()
  router.get('/device', async (request: Request, response: Response) => {
    const visitor = await visitorOf(parts, request, null)
    const { user_code } = request.query
    const typed = typeof user_code === 'string' && /^[A-Za-z-]{8,12}$/.test(user_code) ? user_code : ''
    if (visitor === null) return show(response, 200, signInFirst({}))
    const csrf = parts.access_tokens.csrfOf(visitor.person.session_id)
    show(response, 200, ask({ user_code: typed, csrf, email: visitor.email }))
  })
  router.post('/device', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const { user_code = '', decision, csrf = '' } = formOf(request)
    const visitor = await visitorOf(parts, request, csrf)
    if (visitor === null) return show(response, 403, again({ words: 'Open the page again, and decide there.' }))
    const { person_id } = visitor.person
    await parts.limits.by_person.take(person_id)
    try {
      const approve = decision === 'approve'
      await decideDevice(parts, person_id, user_code, approve)
      show(response, 200, words({ words: approve ? 'The program is in: go back to it.' : 'The program was refused.' }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'NOT_FOUND') throw error
      show(
        response,
        404,
        again({ words: 'This code is wrong, used or over: look at it again, or start the program anew.' }),
      )
    }
  })
  return router
}
