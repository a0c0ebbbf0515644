// The list of pages, and problems as pages.
import type { Problem } from '@svc/schemas'
import type { Request, Response, Router } from 'express'
import { accountPage } from './pages/account.js'
import { devicePage } from './pages/device.js'
import { incidentPage } from './pages/incident.js'
import { invitationPage } from './pages/invitation.js'
import { signInPage } from './pages/sign-in.js'
import type { PageParts } from './parts.js'
import { isBrowser, problemPage, show } from './views/page.js'
import { pageStyle } from './views/style.js'

export function pages(parts: PageParts): Router[] {
  return [
    pageStyle(),
    signInPage(parts),
    invitationPage(parts),
    devicePage(parts),
    accountPage(parts),
    incidentPage(parts),
  ]
}

/** Shows a problem as a page; returns false where the caller is a program. */
export function showProblem(request: Request, response: Response, problem: Problem): boolean {
  if (!isBrowser(request)) return false
  show(response, problem.status, problemPage(problem, request))
  return true
}
