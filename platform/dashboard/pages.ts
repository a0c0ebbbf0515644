// The list of pages, and problems as pages.
import type { Problem } from '@svc/schemas'
import type { Request, Response, Router } from 'express'
import { assets } from './assets.js'
import { type DashboardPage, dashboard } from './page.js'
import { accountPage } from './pages/account.js'
import { actionPages } from './pages/actions/pages.js'
import { agentPages } from './pages/agents/pages.js'
import { devicePage } from './pages/device.js'
import { eventsPage } from './pages/events.js'
import { incidentPages } from './pages/incidents/pages.js'
import { invitationPage } from './pages/invitation.js'
import { manifestPages } from './pages/manifests/pages.js'
import { overviewPage } from './pages/overview/overview.js'
import { policyPages } from './pages/policies/pages.js'
import { reportPages } from './pages/reports/pages.js'
import { searchPage } from './pages/search.js'
import { settingsPages } from './pages/settings/pages.js'
import { signInPage } from './pages/sign-in.js'
import { stopPages } from './pages/stops/pages.js'
import { taskPages } from './pages/tasks/pages.js'
import { themeSwitch } from './pages/theme.js'
import type { PageParts } from './parts.js'
import { isBrowser, problemPage, show } from './views/page.js'

/** The pages of a workspace. */
export const workspacePages: readonly DashboardPage[] = [
  overviewPage,
  ...taskPages,
  ...incidentPages,
  ...agentPages,
  ...stopPages,
  ...policyPages,
  ...manifestPages,
  ...reportPages,
  eventsPage,
  ...actionPages,
  ...settingsPages,
  searchPage,
]

export function pages(parts: PageParts): Router[] {
  return [
    assets(),
    signInPage(parts),
    invitationPage(parts),
    devicePage(parts),
    accountPage(parts),
    themeSwitch(parts),
    dashboard(parts, workspacePages),
  ]
}

/** Shows a problem as a page; returns false where the caller is a program. */
export function showProblem(request: Request, response: Response, problem: Problem): boolean {
  if (!isBrowser(request)) return false
  show(response, problem.status, problemPage(problem, request))
  return true
}
