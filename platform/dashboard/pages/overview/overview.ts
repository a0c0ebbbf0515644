// The first page: what needs doing now, and how much happens. Every number leads to the list that it counts.
import type { DashboardPage } from '../page.js'
import { firstRun, latestTask, showCommands } from './first-run.js'

export const overviewPage: DashboardPage = {
  path: '/',
  show: async (visit) => {
    const latest = await latestTask(visit)
    if (latest === null) return firstRun(visit)
    if (visit.query.waiting !== undefined) return latest
    return { title: 'Overview', place: 'overview', content: '' }
  },
  acts: { key: showCommands },
}
