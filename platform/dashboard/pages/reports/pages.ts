// The pages of reports; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { newReportPage } from './new-report.js'
import { reportPage } from './report.js'
import { reportsPage } from './reports.js'

export const reportPages: readonly DashboardPage[] = [reportsPage, newReportPage, reportPage]
