import { byReaderOrKey, route } from '../../http/route.js'
import { type EvaluationParts, evaluateStep } from '../commands/evaluate-step.js'

export const engineRoutes = [
  route({
    method: 'post',
    path: '/api/v1/engine/evaluate',
    summary: 'Evaluate a step before it runs, with the stored history of its task',
    tag: 'Engine',
    access: byReaderOrKey,
    body: 'hosted-evaluate-request',
    responses: { 200: 'evaluation' },
    handle: async ({ scope, principal, body }, parts: EvaluationParts) => {
      const key = principal.kind === 'key' ? principal.key : null
      const evaluation = await evaluateStep(parts, scope, key, body)
      parts.evaluated(evaluation.outcome)
      return { status: 200, body: evaluation }
    },
  }),
]
