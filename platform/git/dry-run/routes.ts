// Manifests or a policy on recorded tasks, before it is in effect (docs/design/platform.md §3).
import type { DryRunRequest } from '@svc/schemas'
import { type Resources, withSnapshot } from '../../db/db.js'
import { invalid } from '../../errors.js'
import { byReader, route } from '../../http/route.js'
import { validated } from '../../http/validate.js'
import { type DryRunTasks, dryRun } from './dry-run.js'
import { givenPolicies, withPolicy } from './given-policies.js'

export const dryRunRoutes = [
  route({
    method: 'post',
    path: '/api/v1/policies/dry-run',
    summary:
      'Replay recorded tasks, the last ones or those of a period, under manifests or a policy that are not in effect',
    tag: 'Policies',
    access: byReader,
    body: 'dry-run-request',
    deep: true,
    checks_body: true,
    responses: { 200: 'dry-run-report' },
    handle: async ({ scope, body }, { db }: Resources) => {
      const request = validated('dry-run-request', withPolicy(body))
      const given = givenPolicies(request)
      const report = await dryRun((work) => withSnapshot(db, scope, work), scope, given, tasksOf(request))
      return { status: 200, body: report }
    },
  }),
]

/** The tasks of a period are all replayed, if they are not too many. */
function tasksOf({ agent_id, from, to, tasks }: DryRunRequest): DryRunTasks {
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw invalid([{ path: 'to', message: `is not after \`from\`: write a later time than \`${from}\`` }])
  const isPeriod = from !== undefined || to !== undefined
  return { agent_id: agent_id ?? null, from, to, tasks: tasks ?? (isPeriod ? maxTasks : 50) }
}

/** As in dry-run-request.json. */
const maxTasks = 10_000
