// The jobs of the platform, for operators.
import { byAdmin, route } from '../http/route.js'
import type { Queue } from './jobs.js'

export interface JobRouteParts {
  readonly jobs: Pick<Queue, 'state' | 'isRunning'>
}

export const jobRoutes = [
  route({
    method: 'get',
    path: '/api/v1/jobs',
    summary: 'List the jobs of the platform: their schedules, queues and last runs',
    tag: 'Jobs',
    access: byAdmin,
    responses: { 200: 'job-list' },
    handle: async ({ principal }, { jobs }: JobRouteParts) => {
      const states = await jobs.state()
      // A message can name what belongs to another workspace: only the operator of the installation reads it.
      const visible = principal.kind === 'operator' ? states : states.map((state) => ({ ...state, last_error: null }))
      return { status: 200, body: { running: jobs.isRunning(), jobs: visible } }
    },
  }),
]
