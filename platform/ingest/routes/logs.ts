import type { BatchResult, LogRequest } from '@svc/schemas'
import type { Resources } from '../../db/db.js'
import { errorTable, invalid, PlatformError } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { problemOf } from '../../http/problem.js'
import { byKey, type Call, type Reply, route } from '../../http/route.js'
import { readJson, readJsonLines, validated } from '../../http/validate.js'
import type { Outcome } from '../batch.js'
import { withIdempotencyKey } from '../commands/remember-answer.js'
import type { Ingest } from '../write-queue.js'

const tag = 'Log'

export interface IngestParts extends Resources {
  readonly ingest: Ingest
}

export const stepRoutes = [
  route({
    method: 'post',
    path: '/api/v1/logs',
    summary: 'Log one step',
    tag,
    access: byKey,
    body: 'log-request',
    idempotent: true,
    responses: { 200: 'logged-step', 201: 'logged-step' },
    handle: (call, parts: IngestParts) =>
      remembered(call, parts, async () => {
        const [outcome] = await parts.ingest.submit(call.scope, keyOf(call.principal), [oneNumber(call.body)])
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
        reply(200, { results: await logBatch(call, parts, batchEntries(call)) }, false),
      ),
  }),
]

/** Runs the call once per Idempotency-Key. */
export function remembered(call: Call, parts: Resources, run: () => Promise<Reply>): Promise<Reply> {
  const request = { idempotency_key: call.header('idempotency-key'), raw: call.raw }
  return withIdempotencyKey(parts, call.scope, keyOf(call.principal), request, run)
}

export function reply(status: number, body: unknown, replayed: boolean): Reply {
  return { status, body, headers: replayed ? { 'idempotent-replayed': 'true' } : {} }
}

/** The entries of a batch, which is a JSON object or JSON lines. */
function batchEntries(call: Call): readonly unknown[] {
  if (!/^application\/x-ndjson\b/i.test(call.header('content-type') ?? '')) {
    return validated('batch-request', readJson(call.raw)).entries
  }
  return validated('batch-request', { entries: readJsonLines(call.raw) }).entries
}

/** Logs the valid entries in order; each invalid one gets a problem as its result. */
async function logBatch(call: Call, { ingest }: IngestParts, entries: readonly unknown[]): Promise<BatchResult[]> {
  const read = entries.map(readEntry)
  const valid = read.flatMap((entry) => (entry instanceof PlatformError ? [] : [entry]))
  const outcomes = (await ingest.submit(call.scope, keyOf(call.principal), valid)).values()
  return read.map((entry) => {
    const outcome = entry instanceof PlatformError ? { error: entry } : outcomes.next().value
    return batchResult(outcome ?? { error: new PlatformError('INTERNAL', 'no answer') }, call.request_id)
  })
}

function readEntry(value: unknown): LogRequest | PlatformError {
  if (value instanceof PlatformError) return value
  try {
    return oneNumber(validated('log-request', value))
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

/** `step_number` is an alias of `step`. Throws INVALID when both are sent and differ. */
function oneNumber(request: LogRequest): LogRequest {
  const { step, step_number } = request
  if (step === undefined || step_number === undefined || step === step_number) return request
  throw invalid([{ path: 'step_number', message: `must be ${step}, the same as \`step\`, found ${step_number}` }])
}

function batchResult(outcome: Outcome, request_id: string): BatchResult {
  if ('error' in outcome)
    return { status: errorTable[outcome.error.code].status, problem: problemOf(outcome.error, request_id) }
  return { status: outcome.status, replayed: outcome.replayed, entry: outcome.entry }
}
