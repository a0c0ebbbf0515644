// The filters of lists that a view can name, read from the routes of the lists.
import type { View } from '@svc/schemas'
import { agentRoutes } from '../agents/routes/agents.js'
import { invalid, PlatformError } from '../errors.js'
import { isPaging } from '../http/paging.js'
import { queryCheck } from '../http/query.js'
import type { Endpoint } from '../http/route.js'
import { incidentRoutes } from '../incidents/routes/incidents.js'
import { eventRoutes } from '../log/read/routes/events.js'
import { logRoutes } from '../log/read/routes/logs.js'
import { policyRoutes } from '../policies/routes/policies.js'

const endpoints: readonly Endpoint[] = [
  ...agentRoutes,
  ...logRoutes,
  ...incidentRoutes,
  ...policyRoutes,
  ...eventRoutes,
]

const checks: Readonly<Record<View['list'], ReturnType<typeof queryCheck>>> = {
  tasks: checkOf('/api/v1/logs/tasks'),
  logs: checkOf('/api/v1/logs'),
  incidents: checkOf('/api/v1/incidents'),
  incident_groups: checkOf('/api/v1/incidents/groups'),
  agents: checkOf('/api/v1/agents'),
  policies: checkOf('/api/v1/policies'),
  events: checkOf('/api/v1/events'),
}

/** A view filters; the pages of its list are not part of it. */
function checkOf(list: string): ReturnType<typeof queryCheck> {
  const { query = {} } = endpoints.find(({ method, path }) => method === 'get' && path === list) ?? {}
  return queryCheck(Object.fromEntries(Object.entries(query).filter(([name]) => !isPaging(name))))
}

/** The query string in one spelling. Throws INVALID for a filter that the list does not know, or a value that it rejects. */
export function assertFilters(list: View['list'], query: string): string {
  const given = new URLSearchParams(query)
  if (given.size === 0) throw invalid([{ path: 'query', message: 'has no filter: write one, such as `q=refund`' }])
  const names = [...new Set(given.keys())]
  const values = names.map((name) => {
    const all = given.getAll(name)
    return [name, all.length === 1 ? all[0] : all]
  })
  try {
    checks[list](Object.fromEntries(values))
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    throw invalid(error.errors.map(({ path, message }) => ({ path: `query.${path}`, message })))
  }
  return given.toString()
}
