// The page where a person lets a program in, such as the command `svc login`.
import express, { type Request, type Response, Router } from 'express'
import { decideDevice } from '../commands/device.js'
import { PlatformError } from '../errors.js'
import type { Authentication, PersonPrincipal } from '../http/auth.js'
import { refuseStrangers } from '../http/client.js'
import { pageOf, show } from '../http/pages.js'
import { byPerson } from '../http/route.js'
import type { Platform } from '../platform.js'
import { askForLink } from './sign-in-page.js'

const heading = 'Let a program in'
const ask = pageOf(
  heading,
  `<p>A program asks to work with your account. Let it in only if it shows this very code, and you started it.</p>
<form method="post" action="/device">
<input type="hidden" name="csrf" value="{{csrf}}">
<label>Code <input name="user_code" value="{{user_code}}" autocomplete="off" required></label>
<button name="decision" value="approve">Let it in</button>
<button name="decision" value="deny" class="quiet">Refuse</button>
</form>`,
)
const signInFirst = pageOf(
  heading,
  `<p>Sign in first: a link comes by mail. Then open this page again.</p>
${askForLink}`,
)
const words = pageOf(heading, '<p class="said">{{words}}</p>')
const readForm = express.urlencoded({ extended: false, limit: 10_000, parameterLimit: 10 })

/** GET and POST /device. */
export function devicePage(platform: Platform, { authenticate, csrfOf }: Authentication): Router {
  const router = Router()
  const personIn = async (
    { headers: { cookie } }: Request,
    csrf: string | undefined,
  ): Promise<PersonPrincipal | null> => {
    const sender = { authorization: undefined, cookie, csrf, changes: csrf !== undefined }
    const principal = await authenticate(sender, byPerson).catch(nobody)
    return principal?.kind === 'person' ? principal : null
  }
  router.get('/device', async (request: Request, response: Response) => {
    const person = await personIn(request, undefined)
    const { user_code } = request.query
    const typed = typeof user_code === 'string' && /^[A-Za-z-]{8,12}$/.test(user_code) ? user_code : ''
    if (person === null) show(response, 200, signInFirst({}))
    else show(response, 200, ask({ user_code: typed, csrf: csrfOf(person.session_id) }))
  })
  router.post('/device', readForm, async (request: Request, response: Response) => {
    refuseStrangers(platform, request)
    const { user_code, decision, csrf } = (request.body ?? {}) as Readonly<Record<string, unknown>>
    const person = await personIn(request, typeof csrf === 'string' ? csrf : '')
    if (person?.is_capped) throw new PlatformError('FORBIDDEN', 'this account is on the waiting list')
    if (person === null) throw new PlatformError('FORBIDDEN', 'open the page again, and decide there')
    platform.limits.by_person.take(person.person_id)
    try {
      const approve = decision === 'approve'
      await decideDevice(platform, person.person_id, typeof user_code === 'string' ? user_code : '', approve)
      show(response, 200, words({ words: approve ? 'The program is in: go back to it.' : 'The program was refused.' }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'NOT_FOUND') throw error
      show(response, 404, words({ words: `${error.message}.` }))
    }
  })
  return router
}

/** Whoever is not signed in is shown how to. */
function nobody(error: unknown): null {
  if (error instanceof PlatformError && ['UNAUTHENTICATED', 'FORBIDDEN'].includes(error.code)) return null
  throw error
}
