// The choice between light and dark colours, a cookie of the browser.
import { type Request, type Response, Router } from 'express'
import { rejectOtherOrigins } from '../../http/client.js'
import { formOf, readForm, returnIn } from '../browser.js'
import { setTheme } from '../cookies.js'
import type { PageParts } from '../parts.js'

/** POST /theme. */
export function themeSwitch(parts: PageParts): Router {
  const router = Router()
  router.post('/theme', readForm, (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const form = formOf(request)
    setTheme(parts, response, form.theme === 'dark' ? 'dark' : 'light')
    response.redirect(303, returnIn(form) || '/')
  })
  return router
}
