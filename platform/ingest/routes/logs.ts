import type { BatchResult, LogEntry, LogRequest } from '@svc/schemas'
import { withIdempotencyKey } from '../commands/remember-answer.js'
import { errorTable, invalid, PlatformError } from '../../errors.js'
import { problemOf } from '../../http/problem.js'
import type { Query } from '../../http/query.js'
import { byKey, byReader, type Call, parameters, type Reply, type Route } from '../../http/route.js'
import { readJson, readJsonLines, validated } from '../../http/validate.js'
import type { KeyIdentity, Outcome } from '../batch.js'
import { withSnapshot } from '../../db/db.js'
import { readLog, readLogs } from '../../log/read/store/logs.js'
import { listTasks } from '../../log/read/store/tasks.js'
import { nextCursor, numberAfter, pageOf } from '../../http/paging.js'

const tag = 'Log'
const span = {
  from: parameters.time('not before'),
  to: parameters.time('not after'),
  q: parameters.text('the beginning of the task_id'),
}

export const logRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/v1/logs',
    summary: 'Log one step',
    tag,
    access: byKey,
    body: 'log-request',
    idempotent: true,
    responses: { 200: 'logged-step', 201: 'logged-step' },
    handle: (call) =>
      remembered(call, async () => {
        const [outcome] = await call.platform.ingest.submit(call.scope, keyOf(call), [
          oneNumber(call.body as LogRequest),
        ])
        if (outcome === undefined || 'error' in outcome)
          throw outcome?.error ?? new PlatformError('INTERNAL', 'no answer')
        return reply(outcome.status, outcome.entry, outcome.replayed)
      }),
  },
  {
    method: 'post',
    path: '/api/v1/logs/batch',
    summary: 'Log up to 1,000 steps, in order; each has a result of its own',
    tag,
    access: byKey,
    body: 'batch-request',
    lines: true,
    idempotent: true,
    responses: { 200: 'batch-answer' },
    handle: (call) =>
      remembered(call, async () => reply(200, { results: await logBatch(call, batchEntries(call)) }, false)),
  },
  {
    method: 'get',
    path: '/api/v1/logs',
    summary: "Browse the log: a task's steps in order, all others newest first",
    tag,
    access: byReader,
    query: {
      ...{
        task_id: parameters.text('one task'),
        agent_id: parameters.text('one agent'),
        step_type: parameters.text('one type'),
      },
      ...{ ...span, limit: parameters.limit(200, 50), cursor: parameters.cursor },
    },
    responses: { 200: 'log-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      const logs = await withSnapshot(platform.db, scope, (tx) =>
        readLogs(scope, tx, query, page.limit, numberAfter(page)),
      )
      return { status: 200, body: { logs, next_cursor: nextCursor(logs, page.limit, keyIn(query)) } }
    },
  },
  {
    method: 'get',
    path: '/api/v1/logs/tasks',
    summary: 'Tasks and where they stand, the latest first',
    tag,
    access: byReader,
    query: {
      ...{ skip: parameters.skip, limit: parameters.limit(100, 20), agent_id: parameters.text('one agent') },
      ...{
        environment: parameters.text('environment of the agent'),
        unfinished: parameters.flag('no end within the timeout'),
      },
      ...{ status: parameters.choice('status', ['error', 'completed', 'running']), ...span },
    },
    responses: { 200: 'task-list' },
    handle: async ({ platform, scope, query }) => {
      const page = { skip: Number(query.skip ?? 0), limit: Number(query.limit ?? 20) }
      const overdue = new Date(platform.clock() - platform.config.task_timeout_seconds * 1000).toISOString()
      return {
        status: 200,
        body: await withSnapshot(platform.db, scope, (tx) => listTasks(scope, tx, query, page, overdue)),
      }
    },
  },
  {
    method: 'get',
    path: '/api/v1/logs/{log_id}',
    summary: 'One entry, with what was hashed',
    tag,
    access: byReader,
    responses: { 200: 'log-detail' },
    handle: async ({ platform, scope, params }) => {
      const entry = await withSnapshot(platform.db, scope, (tx) => readLog(scope, tx, params.log_id ?? ''))
      if (entry === null) throw new PlatformError('NOT_FOUND', 'no such entry')
      return { status: 200, body: entry }
    },
  },
]

/** What a page ends at: a task is read in the order of its own entries. */
function keyIn({ task_id }: Query): (entry: LogEntry) => number {
  return (entry) => (task_id === undefined ? entry.log_index : entry.seq)
}

/** Runs the call once for an Idempotency-Key. */
function remembered(call: Call, run: () => Promise<Reply>): Promise<Reply> {
  const request = { idempotency_key: call.header('idempotency-key'), raw: call.raw }
  return withIdempotencyKey(call.platform, call.scope, keyOf(call), request, run)
}

function keyOf({ principal }: Call): KeyIdentity {
  if (principal.kind === 'key') return principal.key
  throw new PlatformError('FORBIDDEN', 'steps are logged with an API key')
}

function reply(status: number, body: unknown, replayed: boolean): Reply {
  return { status, body, headers: replayed ? { 'idempotent-replayed': 'true' } : {} }
}

/** Entries of a batch, as one object or a line each. */
function batchEntries(call: Call): readonly unknown[] {
  if (!/^application\/x-ndjson\b/i.test(call.header('content-type') ?? '')) {
    return validated<{ entries: unknown[] }>('batch-request', readJson(call.raw)).entries
  }
  return validated<{ entries: unknown[] }>('batch-request', { entries: readJsonLines(call.raw) }).entries
}

/** Logs the entries that are valid, in order; the others get their problem and stop nobody. */
async function logBatch(call: Call, entries: readonly unknown[]): Promise<BatchResult[]> {
  const read = entries.map(readEntry)
  const sound = read.flatMap((entry) => (entry instanceof PlatformError ? [] : [entry]))
  const outcomes = (await call.platform.ingest.submit(call.scope, keyOf(call), sound)).values()
  return read.map((entry) => {
    const outcome = entry instanceof PlatformError ? { error: entry } : outcomes.next().value
    return batchResult(outcome ?? { error: new PlatformError('INTERNAL', 'no answer') }, call.request_id)
  })
}

function readEntry(value: unknown): LogRequest | PlatformError {
  if (value instanceof PlatformError) return value
  try {
    return oneNumber(validated<LogRequest>('log-request', value))
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

/** `step_number` is another name of `step`; saying two different numbers is not a step. */
function oneNumber(request: LogRequest): LogRequest {
  const { step, step_number } = request
  if (step === undefined || step_number === undefined || step === step_number) return request
  throw invalid([
    { path: 'step_number', message: `is another name of \`step\`, and says ${step_number} where that says ${step}` },
  ])
}

function batchResult(outcome: Outcome, request_id: string): BatchResult {
  if ('error' in outcome)
    return { status: errorTable[outcome.error.code].status, problem: problemOf(outcome.error, request_id) }
  return { status: outcome.status, replayed: outcome.replayed, entry: outcome.entry }
}
