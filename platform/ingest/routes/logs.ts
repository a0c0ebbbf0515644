import { withOutputObject } from '@svc/engine/parts'
import type { LogRequest } from '@svc/schemas'
import { invalid, PlatformError } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { byKey, type Call, route } from '../../http/route.js'
import { readJson, readJsonLines, validated } from '../../http/validate.js'
import { type IngestParts, listReply, orProblem, remembered, reply, submitAll } from '../answers.js'
import type { StepRequest } from '../step-request.js'
import { withUnknownMembers } from '../unknown-members.js'

const tag = 'Log'

export const stepRoutes = [
  route({
    method: 'post',
    path: '/api/v1/logs',
    summary: 'Log one step',
    tag,
    access: byKey,
    body: 'log-request',
    checks_body: true,
    idempotent: true,
    responses: { 200: 'logged-step', 201: 'logged-step' },
    handle: (call, parts: IngestParts) =>
      remembered(call, parts, async () => {
        const [outcome] = await parts.ingest.submit(call.scope, keyOf(call.principal), [stepIn(call.body)])
        if (outcome === undefined || 'error' in outcome)
          throw outcome?.error ?? new PlatformError('INTERNAL', 'no answer')
        return reply(outcome.status, outcome.entry, outcome.replayed)
      }),
  }),
  route({
    method: 'post',
    path: '/api/v1/logs/batch',
    summary: 'Log up to 1,000 steps in order; each has its own result',
    tag,
    access: byKey,
    body: 'batch-request',
    lines: true,
    idempotent: true,
    responses: { 200: 'batch-answer' },
    handle: (call, parts: IngestParts) =>
      remembered(call, parts, async () =>
        listReply({ results: await submitAll(call, parts, batchEntries(call).map(readEntry)) }),
      ),
  }),
]

/** The entries of a batch, which is a JSON object or JSON lines. */
function batchEntries(call: Call): readonly unknown[] {
  if (!/^application\/x-ndjson\b/i.test(call.header('content-type') ?? '')) {
    return validated('batch-request', readJson(call.raw)).entries
  }
  return validated('batch-request', { entries: readJsonLines(call.raw) }).entries
}

function readEntry(value: unknown): StepRequest | PlatformError {
  return value instanceof PlatformError ? value : orProblem(() => stepIn(value))
}

/** The step of a body. A tool that ran is recorded whatever the shape of its output. Throws INVALID. */
function stepIn(value: unknown): StepRequest {
  const { step, warnings } = withOutputObject(value)
  const request = stepOf(validated('log-request', step))
  const all = [...warnings, ...(request.warnings ?? [])]
  return all.length === 0 ? request : { ...request, warnings: all }
}

/** `step_number` is an alias of `step`. Throws INVALID when both are sent and differ. */
function stepOf(request: LogRequest): StepRequest {
  const { step, step_number } = request
  if (step === undefined || step_number === undefined || step === step_number) return withUnknownMembers(request)
  throw invalid([{ path: 'step_number', message: `must be ${step}, the same as \`step\`, found ${step_number}` }])
}
