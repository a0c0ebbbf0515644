// The list of pages, and problems as pages.
import type { Problem } from '@svc/schemas'
import type { Request, Response, Router } from 'express'
import { assets } from './assets.js'
import { type DashboardPage, dashboard } from './page.js'
import { accountPage } from './pages/account.js'
import { actionPages } from './pages/actions/pages.js'
import { devicePage } from './pages/device.js'
import { eventsPage } from './pages/events.js'
import { incidentPage } from './pages/incident.js'
import { incidentsPage } from './pages/incidents.js'
import { invitationPage } from './pages/invitation.js'
import { overviewPage } from './pages/overview.js'
import { policyPages } from './pages/policies/pages.js'
import { newReportPage } from './pages/reports/new-report.js'
import { reportPage } from './pages/reports/report.js'
import { reportsPage } from './pages/reports/reports.js'
import { generalPage } from './pages/settings/general.js'
import { erasuresPage, holdsPage } from './pages/settings/holds.js'
import { keysPage } from './pages/settings/keys.js'
import { logPage } from './pages/settings/log.js'
import { memberPage } from './pages/settings/member.js'
import { membersPage } from './pages/settings/members.js'
import { retentionPage } from './pages/settings/retention.js'
import { signInPage } from './pages/sign-in.js'
import { tasksPage } from './pages/tasks/list.js'
import { taskPage } from './pages/tasks/task.js'
import { themeSwitch } from './pages/theme.js'
import type { PageParts } from './parts.js'
import { isBrowser, problemPage, show } from './views/page.js'

/** The pages of a workspace; Express tries them in this order. */
const workspacePages: readonly DashboardPage[] = [
  overviewPage,
  tasksPage,
  taskPage,
  incidentsPage,
  incidentPage,
  reportsPage,
  newReportPage,
  reportPage,
  eventsPage,
  generalPage,
  membersPage,
  memberPage,
  keysPage,
  logPage,
  retentionPage,
  holdsPage,
  erasuresPage,
  ...policyPages,
  ...actionPages,
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
