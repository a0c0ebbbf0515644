// The pages of incidents; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { resolveAllPage } from './bulk.js'
import { groupsPage } from './groups.js'
import { incidentPage } from './incident.js'
import { incidentsPage } from './list.js'

export const incidentPages: readonly DashboardPage[] = [incidentsPage, groupsPage, resolveAllPage, incidentPage]
