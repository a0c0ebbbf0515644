// The write queues of the log, one per organization: while one commit is in progress the next batch gathers. There is no
// timer: an idle log commits at once, a busy one commits the steps that arrived meanwhile.
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { gauge, type Metric } from '../http/exposition.js'
import type { KeyIdentity } from '../http/principal.js'
import { type Item, itemOf, type Outcome } from './batch.js'
import { type CommitParts, commitBatch } from './commit.js'
import type { StepRequest } from './step-request.js'

/** The maximum number of entries in a commit: larger batches are no faster and delay others (docs/design/log.md §2). */
const maxBatch = 256
/**
 * The maximum size of the payloads of a commit, beyond its first step: the driver and an embedded database copy them without a
 * pause. 1 MiB took them 30 ms, 8 MiB took 300.
 */
const maxBatchBytes = 1024 * 1024

export interface Ingest {
  /** Outcomes in order, each after the commit of its entry. Never rejects: a failed step has an outcome with its error. */
  readonly submit: (scope: Scope, key: KeyIdentity, requests: readonly StepRequest[]) => Promise<Outcome[]>
  readonly metrics: () => Metric[]
  /** Waits until every submitted step is answered; later steps are rejected. */
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly item: Item
  readonly answer: (outcome: Outcome) => void
}

interface WriteQueue {
  readonly scope: Scope
  readonly waiting: Waiting[]
}

export function createIngest(parts: CommitParts, report: (error: unknown) => void): Ingest {
  const queues = new Map<string, WriteQueue>()
  const running = new Set<Promise<void>>()
  let closed = false

  const submit = (scope: Scope, key: KeyIdentity, requests: readonly StepRequest[]) => {
    if (closed) {
      const error = new PlatformError('UNAVAILABLE', 'the platform is stopping: retry')
      return Promise.resolve(requests.map(() => ({ error })))
    }
    const queue = queues.get(scope.org_id) ?? startQueue(scope)
    return Promise.all(
      requests.map(
        (request) => new Promise<Outcome>((answer) => queue.waiting.push({ item: itemOf(key, request), answer })),
      ),
    )
  }

  /** A queue ends when it is empty, so that idle organizations use no memory. */
  const startQueue = (scope: Scope): WriteQueue => {
    const queue: WriteQueue = { scope, waiting: [] }
    queues.set(scope.org_id, queue)
    const run = drain({ parts, queue, report }, () => queues.delete(scope.org_id)).finally(() => running.delete(run))
    running.add(run)
    return queue
  }

  const close = async () => {
    closed = true
    while (running.size > 0) await Promise.all(running)
  }

  const metrics = () => {
    const waiting = [...queues.values()].reduce((sum, queue) => sum + queue.waiting.length, 0)
    return [gauge('svc_write_queue_steps', 'Steps that wait for a commit.', waiting)]
  }

  return { submit, metrics, close }
}

interface Writing {
  readonly parts: CommitParts
  readonly queue: WriteQueue
  readonly report: (error: unknown) => void
}

async function drain(writing: Writing, leave: () => void): Promise<void> {
  const { queue } = writing
  // The first batch includes all steps that arrive in this iteration of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  while (queue.waiting.length > 0) {
    const batch = queue.waiting.splice(0, await batchLength(writing))
    const items = batch.map(({ item }) => item)
    const outcomes = await settle(writing, items)
    for (const [index, { answer }] of batch.entries()) answer(outcomes[index] ?? { error: internal() })
  }
  // INVARIANT (no lost entry): no other code runs between the last check and the end, so that no step joins an ended queue.
  leave()
}

/** The number of waiting steps that the next commit has. Commits to their payloads, before the log is locked. */
async function batchLength({ parts, queue }: Writing): Promise<number> {
  let bytes = 0
  let length = 0
  for (; length < Math.min(maxBatch, queue.waiting.length); length++) {
    await parts.pace()
    bytes += sizeOf(queue.waiting[length]?.item)
    if (bytes > maxBatchBytes) break
  }
  return Math.max(1, length)
}

/** The length of the payload as text; 0 for a faulty one, whose fault recurs when the step is appended. */
function sizeOf(item: Item | undefined): number {
  try {
    return item?.payload().values.length ?? 0
  } catch {
    return 0
  }
}

/** Commits the batch; if it fails for an unexpected reason, commits each step alone, so that only the faulty one fails. */
async function settle(writing: Writing, items: readonly Item[]): Promise<Outcome[]> {
  const { parts, queue, report } = writing
  try {
    return await commitBatch(parts, queue.scope, items, () => commitAhead(queue))
  } catch (error) {
    if (error instanceof PlatformError) return items.map(() => ({ error }))
    if (items.length === 1) {
      report(error)
      return [{ error: internal() }]
    }
    const outcomes: Outcome[] = []
    for (const item of items) outcomes.push(...(await settle(writing, [item])))
    return outcomes
  }
}

/** The maximum time in which it commits ahead without a pause, ms. */
const maxAheadMs = 10

/** Commits to the payloads of the next batch while the database writes this one. */
function commitAhead({ waiting }: WriteQueue): void {
  const began = performance.now()
  for (const { item } of waiting.slice(0, maxBatch)) {
    sizeOf(item)
    if (performance.now() - began > maxAheadMs) return
  }
}

function internal(): PlatformError {
  return new PlatformError('INTERNAL', 'could not store the entry: retry')
}
