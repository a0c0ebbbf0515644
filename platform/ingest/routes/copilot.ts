import { isMap } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import type { RegistrationParts } from '../../agents/commands/register-agent.js'
import { invalid } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { byKey, route } from '../../http/route.js'
import { type IngestParts, remembered, reply } from '../answers.js'
import { logCopilotStep } from '../commands/log-copilot-step.js'
import { readCopilotCall } from '../copilot/copilot-step.js'

export const copilotRoutes = [
  route({
    method: 'post',
    path: '/api/v1/copilot/log',
    summary: 'Log a step of a low-code agent: registers the agent on its first call, and numbers its steps',
    tag: 'Log',
    access: byKey,
    body: 'copilot-request',
    checks_body: true,
    idempotent: true,
    responses: { 200: 'copilot-step', 201: 'copilot-step' },
    handle: (call, parts: IngestParts & RegistrationParts) =>
      remembered(call, parts, async () => {
        const body: unknown = call.body
        if (!isMap(body))
          throw invalid([{ path: '', message: 'must be an object: send each step in a request of its own' }])
        const sent = readCopilotCall(body, isoTime(parts.clock()))
        const { status, replayed, step } = await logCopilotStep(parts, call.scope, keyOf(call.principal), sent)
        return reply(status, step, replayed)
      }),
  }),
]
