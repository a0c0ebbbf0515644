import type { HostedEvaluateRequest } from '@svc/schemas'
import { evaluateStep } from '../commands/evaluate-step.js'
import { byEither, type Route } from '../../http/route.js'

export const engineRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/v1/engine/evaluate',
    summary: 'Judge a step before it runs, on the history the platform holds of its task',
    tag: 'Engine',
    access: byEither,
    body: 'hosted-evaluate-request',
    responses: { 200: 'evaluation' },
    handle: async ({ platform, scope, principal, body }) => {
      const key = principal.kind === 'key' ? principal.key : null
      return { status: 200, body: await evaluateStep(platform, scope, key, body as HostedEvaluateRequest) }
    },
  },
]
