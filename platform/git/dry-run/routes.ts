// A manifest or a policy on recorded tasks, before it is in effect (docs/design/platform.md §3).
import { type Resources, withSnapshot } from '../../db/db.js'
import { byReader, route } from '../../http/route.js'
import { validated } from '../../http/validate.js'
import { dryRun } from './dry-run.js'
import { givenPolicies, withPolicy } from './given-policies.js'

export const dryRunRoutes = [
  route({
    method: 'post',
    path: '/api/v1/policies/dry-run',
    summary: 'Replay the last recorded tasks under a manifest or a policy that is not in effect',
    tag: 'Policies',
    access: byReader,
    body: 'dry-run-request',
    deep: true,
    checks_body: true,
    responses: { 200: 'dry-run-report' },
    handle: async ({ scope, body }, { db }: Resources) => {
      const request = validated('dry-run-request', withPolicy(body))
      const { agent_id = null, tasks = 50 } = request
      const given = givenPolicies(request)
      const report = await dryRun((work) => withSnapshot(db, scope, work), scope, given, { agent_id, tasks })
      return { status: 200, body: report }
    },
  }),
]
