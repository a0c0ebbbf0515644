// Takes the spans of an export request: each becomes steps when it arrives (docs/adr/0053-otlp.md).
import { setTimeout } from 'node:timers/promises'
import { type BatchStep, type Span, spanOrigin } from '@svc/engine/parts'
import { ensureAgent } from '../../agents/commands/ensure-agent.js'
import type { RegistrationParts } from '../../agents/commands/register-agent.js'
import type { ConcurrencyLimits } from '../../db/concurrency.js'
import { withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { errorTable, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { validated } from '../../http/validate.js'
import type { Outcome } from '../batch.js'
import type { ArrivalOrder } from '../otlp/arrival-order.js'
import type { ExportedSpans } from '../otlp/read-request.js'
import { contentOrigin, type SpanTask, spanTasks, type TaskParts } from '../otlp/span-tasks.js'
import { tracesOf, unmappedIn } from '../otlp/traces.js'
import { inSlices } from '../pace.js'
import type { StepRequest } from '../step-request.js'
import { countUnmapped } from '../store/unmapped-spans.js'
import type { Ingest } from '../write-queue.js'

export interface SpanParts extends RegistrationParts, TaskParts {
  readonly ingest: Ingest
  readonly conversions: ConcurrencyLimits
  readonly span_order: ArrivalOrder
}

export interface TakenSpans {
  /** Spans that were not stored. */
  readonly rejected: number
  /** The reasons, for the first of them. */
  readonly reasons: readonly string[]
}

/** Rejects with RATE_LIMITED and UNAVAILABLE, after which the sender repeats the request. */
export async function takeSpans(
  parts: SpanParts,
  scope: Scope,
  key: KeyIdentity,
  { spans, problems }: ExportedSpans,
): Promise<TakenSpans> {
  const rejected = new Map<Span, string>()
  const reject = (span: Span, reason: string) => {
    if (!rejected.has(span)) rejected.set(span, `span \`${span.span_id}\`: ${reason}`)
  }
  const traces = await inSlices(parts.pace, tracesOf(spans, reject))
  const keysOf = (ids: readonly string[]) => ids.map((id) => `${scope.org_id} ${key.key_id} ${id}`)
  const shared = traces.flatMap(({ trace_id, conversation }) => [
    trace_id,
    ...(conversation === null ? [] : [conversation]),
  ])
  const ends = await parts.span_order.run(keysOf([...new Set(shared)]), async () => {
    const tasks = await spanTasks(parts, scope, key, traces)
    for (const span of tasks.flatMap(({ changed }) => changed))
      reject(span, 'an earlier span of the trace has its `spanId`, and other content')
    const items = await itemsOf(parts, scope, key, tasks, reject)
    await submitAll(parts, scope, key, itemsWhere(items, false), reject)
    return itemsWhere(items, true)
  })
  if (ends.length > 0) {
    await setTimeout(endDelayMs)
    const ended = keysOf(ends.map(({ span }) => span.trace_id))
    await parts.span_order.run(ended, () => submitAll(parts, scope, key, ends, reject))
  }
  // After the steps: a request that fails before is sent again.
  const counted = await inSlices(parts.pace, unmappedIn(traces, key.key_id))
  if (counted.length > 0)
    await withTransaction(parts.db, scope, (tx) => countUnmapped(scope, tx, parts.clock(), counted))
  return { rejected: problems.length + rejected.size, reasons: [...problems, ...rejected.values()] }
}

/**
 * The time in which the end of a task waits for spans of other requests, ms. An exporter that is closed sends several requests at
 * once, and the last of them has the root.
 */
const endDelayMs = 250

function itemsWhere(items: readonly Item[], is_end: boolean): Item[] {
  return items.filter((item) => item.is_end === is_end)
}

interface Item {
  readonly request: StepRequest
  readonly span: Span
  readonly is_end: boolean
}

type Reject = (span: Span, reason: string) => void

/** Agents that begin tasks in one request: the limit of requests then limits how many a key can register. */
const maxAgents = 100

/** The steps to append; the agents of new tasks are registered. */
async function itemsOf(
  parts: SpanParts,
  scope: Scope,
  key: KeyIdentity,
  tasks: readonly SpanTask[],
  reject: Reject,
): Promise<Item[]> {
  const items: Item[] = []
  const agents = new Set<string>()
  for (const task of tasks.filter(({ steps }) => steps.length > 0)) {
    try {
      if (!task.is_known) agents.add(task.agent_key)
      if (agents.size > maxAgents)
        throw new PlatformError('TOO_LARGE', `the request begins tasks of more than ${maxAgents} agents`)
      const agent_id = task.is_known ? undefined : await registered(parts, scope, key, task)
      for (const each of task.steps) {
        await parts.pace()
        const request = requestOf(task, agent_id, each)
        if (request instanceof PlatformError) reject(each.span, request.message)
        else items.push({ request, span: each.span, is_end: each.is_end })
      }
    } catch (error) {
      for (const { span } of task.steps) reject(span, reasonOf(error))
    }
  }
  return items
}

function registered(parts: SpanParts, scope: Scope, key: KeyIdentity, { agent_key, agent_name }: SpanTask) {
  const name = (agent_name ?? agent_key)
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, maxName)
    .toWellFormed()
  return ensureAgent(parts, scope, key, { agent_key, name })
}

const maxName = 200
/** As large as a step of a batch can be. */
const maxStepBytes = 8 * 1024 * 1024

function requestOf({ task_id }: SpanTask, agent_id: string | undefined, { step, span, same_as, ...own }: BatchStep) {
  const origins = own.origins[0] === spanOrigin(span) ? [...own.origins, contentOrigin(span)] : own.origins
  const named = agent_id === undefined ? {} : { agent_id }
  const shared = same_as === undefined ? {} : { same_as }
  try {
    const { step: _, ...body } = validated('log-request', { ...step, ...named, task_id, step: 1 })
    if (Buffer.byteLength(JSON.stringify(body)) > maxStepBytes)
      return new PlatformError('TOO_LARGE', 'its step is larger than 8 MiB')
    return { ...body, ...shared, origins } satisfies StepRequest
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

async function submitAll(
  { ingest }: SpanParts,
  scope: Scope,
  key: KeyIdentity,
  items: readonly Item[],
  reject: Reject,
): Promise<void> {
  const outcomes = await ingest.submit(
    scope,
    key,
    items.map(({ request }) => request),
  )
  const again = items.filter((_, index) => isOfOtherAgent(outcomes[index]))
  const isAgain = new Set(again)
  const known = await ingest.submit(
    scope,
    key,
    again.map(({ request: { agent_id: _, ...request } }) => request),
  )
  const settled = [
    ...items.map((item, index) => ({ item, outcome: outcomes[index] })).filter(({ item }) => !isAgain.has(item)),
    ...again.map((item, index) => ({ item, outcome: known[index] })),
  ]
  for (const { item, outcome } of settled)
    if (outcome !== undefined && 'error' in outcome) reject(item.span, reasonOf(outcome.error))
}

/** Another request began the task meanwhile, with another agent: a task keeps its agent. */
function isOfOtherAgent(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && 'error' in outcome && outcome.error.code === 'CONFLICT'
}

/** Rethrows an error after which the sender should repeat the request. */
function reasonOf(error: unknown): string {
  if (!(error instanceof PlatformError)) throw error
  const { status } = errorTable[error.code]
  if (status === 429 || status === 503) throw error
  return error.message
}
