// Logs a step of a low-code agent, which is registered on its first call, in a task that starts with its first step.
import type { CopilotStep } from '@svc/schemas'
import { ensureAgent } from '../../agents/commands/ensure-agent.js'
import type { RegistrationParts } from '../../agents/commands/register-agent.js'
import { withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { readHead } from '../../ledger/log.js'
import { type CopilotCall, isStart, startOrigin } from '../copilot/copilot-step.js'
import type { StepRequest } from '../step-request.js'
import type { Ingest } from '../write-queue.js'

interface LoggedCopilotStep {
  readonly status: 200 | 201
  /** The step was sent before. */
  readonly replayed: boolean
  readonly step: CopilotStep
}

export async function logCopilotStep(
  parts: RegistrationParts & { readonly ingest: Ingest },
  scope: Scope,
  key: KeyIdentity,
  { agent, bot_id, request, warnings }: CopilotCall,
): Promise<LoggedCopilotStep> {
  const agent_id = agent === null ? null : await ensureAgent(parts, scope, key, agent, bot_id ?? agent.agent_key)
  const head = await withSnapshot(parts.db, scope, (tx) => readHead(scope, tx, request.task_id))
  // Another first call may be on its way: the identity of the start decides which of the two is stored.
  const before = head === null && !isStart(request) ? [startOf(agent, request)] : []
  const outcome = (await parts.ingest.submit(scope, key, [...before, request])).at(-1)
  if (outcome === undefined) throw new PlatformError('INTERNAL', 'no answer')
  if ('error' in outcome) throw agent === null ? askingForBot(outcome.error) : outcome.error
  const { status, replayed, entry } = outcome
  return { status, replayed, step: { agent_id, ...entry, ...(warnings.length > 0 && { warnings: [...warnings] }) } }
}

/** The same problem in the name that low-code tools have for an agent. */
function askingForBot(error: PlatformError): PlatformError {
  if (!error.errors.some(({ path }) => path === 'agent_id')) return error
  const message = 'must be the id of the bot, as text or a number: the API key has several agents or none'
  return invalid([{ path: 'bot_id', message }])
}

/** The first step of a task that began without one. */
function startOf(agent: CopilotCall['agent'], { task_id, agent_key, timestamp, meta }: StepRequest): StepRequest {
  return {
    task_id,
    ...(agent_key !== undefined && { agent_key }),
    step_type: 'task.start',
    timestamp,
    meta: { ...(agent !== null && { agent }), 'svc.source': meta?.['svc.source'] },
    origins: [startOrigin],
  }
}
