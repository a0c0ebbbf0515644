// The queue in front of the log: while one commit of an organization is in flight the next batch gathers. No timer:
// an idle log commits at once, a busy one commits what came in meanwhile.
import type { LogRequest } from '@svc/schemas'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import type { KeyIdentity } from '../http/principal.js'
import { type Item, itemOf, type Outcome } from './batch.js'
import { type CommitParts, commitBatch } from './commit.js'

/** Most entries in one commit: past this a larger batch gains nothing and the others wait longer (docs/design/log.md §2). */
const largestBatch = 256

export interface Ingest {
  /** Answers in order, each only once its entry is committed. Never rejects: what fails has an error of its own. */
  readonly submit: (scope: Scope, key: KeyIdentity, requests: readonly LogRequest[]) => Promise<Outcome[]>
  /** Waits until everything submitted has been answered; later submissions are refused. */
  readonly close: () => Promise<void>
}

interface Waiting {
  readonly item: Item
  readonly answer: (outcome: Outcome) => void
}

interface Lane {
  readonly scope: Scope
  readonly waiting: Waiting[]
}

export function createIngest(parts: CommitParts, report: (error: unknown) => void): Ingest {
  const lanes = new Map<string, Lane>()
  const running = new Set<Promise<void>>()
  let closed = false

  const submit = (scope: Scope, key: KeyIdentity, requests: readonly LogRequest[]) => {
    const refusal = closed ? new PlatformError('UNAVAILABLE', 'the platform is stopping') : null
    if (refusal !== null) return Promise.resolve(requests.map(() => ({ error: refusal })))
    const lane = lanes.get(scope.org_id) ?? startLane(scope)
    return Promise.all(
      requests.map(
        (request) => new Promise<Outcome>((answer) => lane.waiting.push({ item: itemOf(key, request), answer })),
      ),
    )
  }

  /** A lane runs until it is empty and is then gone, so that idle organizations cost nothing. */
  const startLane = (scope: Scope): Lane => {
    const lane: Lane = { scope, waiting: [] }
    lanes.set(scope.org_id, lane)
    const run = drain({ parts, lane, report }, () => lanes.delete(scope.org_id)).finally(() => running.delete(run))
    running.add(run)
    return lane
  }

  const close = async () => {
    closed = true
    while (running.size > 0) await Promise.all(running)
  }

  return { submit, close }
}

interface Writing {
  readonly parts: CommitParts
  readonly lane: Lane
  readonly report: (error: unknown) => void
}

async function drain(writing: Writing, leave: () => void): Promise<void> {
  const { lane } = writing
  // Lets everything that arrived in this turn of the event loop into the first batch.
  await new Promise((resolve) => setImmediate(resolve))
  while (lane.waiting.length > 0) {
    const batch = lane.waiting.splice(0, largestBatch)
    const items = batch.map(({ item }) => item)
    const outcomes = await settle(writing, items)
    for (const [index, { answer }] of batch.entries()) answer(outcomes[index] ?? { error: internal() })
  }
  // INVARIANT (no lost entry): found empty and left in one go, so that nothing can be queued on a lane that has ended.
  leave()
}

/** A batch that fails for a reason of its own is tried one by one, so that one bad entry fails alone. */
async function settle(writing: Writing, items: readonly Item[]): Promise<Outcome[]> {
  const { parts, lane, report } = writing
  try {
    return await commitBatch(parts, lane.scope, items, () => sealAhead(lane))
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

/** While the database writes one batch, the next one's payloads are sealed; a fault is met when its step is placed. */
function sealAhead({ waiting }: Lane): void {
  for (const { item } of waiting.slice(0, largestBatch)) {
    try {
      item.payload()
    } catch {
      return
    }
  }
}

function internal(): PlatformError {
  return new PlatformError('INTERNAL', 'the entry could not be stored')
}
