// Answers of this room: each item of a list has its own result, so that a wrong one leaves the others as they are.
import type { BatchResult, IncidentReportResult } from '@svc/schemas'
import type { Resources } from '../db/db.js'
import { errorTable, PlatformError } from '../errors.js'
import { keyOf } from '../http/principal.js'
import { problemOf } from '../http/problem.js'
import type { Call, Reply } from '../http/route.js'
import type { Outcome } from './batch.js'
import { withIdempotencyKey } from './commands/remember-answer.js'
import type { ReportOutcome } from './commands/report-incidents.js'
import type { StepRequest } from './step-request.js'
import type { Ingest } from './write-queue.js'

export interface IngestParts extends Resources {
  readonly ingest: Ingest
}

interface Answered extends Reply {
  readonly is_unfinished?: boolean
}

/** Runs the call once per Idempotency-Key. */
export function remembered(call: Call, parts: Resources, run: () => Promise<Answered>): Promise<Reply> {
  const request = { idempotency_key: call.header('idempotency-key'), raw: call.raw }
  return withIdempotencyKey(parts, call.scope, keyOf(call.principal), request, run)
}

export function reply(status: number, body: unknown, replayed: boolean): Reply {
  return { status, body, headers: replayed ? { 'idempotent-replayed': 'true' } : {} }
}

/** The answer with the results of lists. One that the platform failed to take must be sent again, also under an Idempotency-Key. */
export function listReply(body: Readonly<Record<string, readonly { readonly status: number }[]>>): Answered {
  const is_unfinished = Object.values(body).some((results) => results.some(({ status }) => status >= 500))
  return { status: 200, body, is_unfinished }
}

/** The result of `read`, or the error of the platform that it throws. */
export function orProblem<T>(read: () => T): T | PlatformError {
  try {
    return read()
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

/** Logs the valid steps in order; each invalid one has a problem as its result. */
export async function submitAll(
  { scope, principal, request_id }: Pick<Call, 'scope' | 'principal' | 'request_id'>,
  { ingest }: Pick<IngestParts, 'ingest'>,
  steps: readonly (StepRequest | PlatformError)[],
): Promise<BatchResult[]> {
  const valid = steps.flatMap((step) => (step instanceof PlatformError ? [] : [step]))
  const outcomes = (await ingest.submit(scope, keyOf(principal), valid)).values()
  return steps.map((step) => {
    const outcome = step instanceof PlatformError ? { error: step } : outcomes.next().value
    return batchResult(outcome ?? { error: new PlatformError('INTERNAL', 'no answer') }, request_id)
  })
}

function batchResult(outcome: Outcome, request_id: string): BatchResult {
  if ('error' in outcome) return problemResult(outcome.error, request_id)
  return { status: outcome.status, replayed: outcome.replayed, entry: outcome.entry }
}

export function reportResult(outcome: ReportOutcome, request_id: string): IncidentReportResult {
  return outcome instanceof PlatformError ? problemResult(outcome, request_id) : outcome
}

/** The result of an item that was not taken. */
export function problemResult(error: PlatformError, request_id: string) {
  return { status: errorTable[error.code].status, problem: problemOf(error, request_id) }
}
