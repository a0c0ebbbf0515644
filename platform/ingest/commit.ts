// One group commit (docs/design/log.md §2): everything between locking the organization's log and answering.
// INVARIANT (order): only the holder of the log row's lock places entries, so that seq, log_index and received_at
// have no gap and no fork, however many processes write.
import { record } from '@svc/engine'
import type { Rulebook } from '../agents/rulebook.js'
import { soleActiveAgents } from '../agents/store/agents.js'
import { type Database, type Transaction, withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { raiseIncidents } from '../incidents/raise-command.js'
import { appendEntries, findSteps, lockLog, readHeads, readTail } from '../ledger/log.js'
import { type NamedSubject, rememberSubjects } from '../ledger/subjects.js'
import { insertViolations } from '../ledger/violations.js'
import type { Sealer } from '../secrets/seal.js'
import { type Batch, type Item, type Outcome, type PlacedEntry, stepKey } from './batch.js'
import type { Histories } from './histories.js'
import type { Partitions } from './partitions.js'
import { namedAgent, place } from './place.js'
import { foundViolations } from './violations.js'

export interface CommitParts {
  readonly db: Database
  readonly clock: () => number
  /** Counts a commit with so many entries. */
  readonly committed: (entries: number) => void
  /** Keeps the keys that subjects are hashed with. */
  readonly sealer: Sealer
  readonly rulebook: Rulebook
  readonly histories: Histories
  readonly partitions: Partitions
}

/**
 * Places the items in order and commits them together; `meanwhile` is called while the database is writing. Rejects when nothing was committed, or when it is unknown.
 */
export async function commitBatch(
  parts: CommitParts,
  scope: Scope,
  items: readonly Item[],
  meanwhile: () => void,
): Promise<Outcome[]> {
  try {
    let entries = 0
    const placed = await withTransaction(parts.db, scope, async (tx) => {
      const batch = await openBatch(parts, scope, tx, items)
      await catchUp(scope, tx, batch, items)
      const outcomes = items.map((item) => place(batch, item))
      entries = batch.placed.length
      if (entries > 0) {
        await parts.partitions.ensure(tx, batch.received_at)
        const appended = appendEntries(scope, tx, batch)
        meanwhile()
        await appended
        await rememberSubjects(scope, tx, parts.sealer, batch.placed.flatMap(namedSubjects))
        await insertViolations(scope, tx, batch.placed)
        await raiseIncidents(scope, tx, batch.received_at, foundViolations(batch.placed))
      }
      return outcomes
    })
    if (entries > 0) parts.committed(entries)
    return placed
  } catch (error) {
    // What the caches learned from this batch did not happen, or cannot be relied on.
    parts.rulebook.forget(scope.org_id)
    parts.partitions.forget()
    parts.histories.forget(
      scope.org_id,
      items.map((item) => item.request.task_id),
    )
    throw error
  }
}

function namedSubjects({ subjects, entry: { log_index } }: PlacedEntry): NamedSubject[] {
  return subjects.map((subject) => ({ subject, log_index }))
}

async function openBatch(parts: CommitParts, scope: Scope, tx: Transaction, items: readonly Item[]): Promise<Batch> {
  const log = await lockLog(scope, tx)
  const heads = await readHeads(scope, tx, [...new Set(items.map((item) => item.request.task_id))])
  const unnamed = items.filter((item) => namedAgent(item) === null && !heads.has(item.request.task_id))
  const sole_agents = await soleActiveAgents(scope, tx, [...new Set(unnamed.map((item) => item.key.key_id))])
  const agent_ids = [
    ...[...heads.values()].map((head) => head.agent_id),
    ...items.flatMap((item) => namedAgent(item) ?? []),
    ...[...sole_agents.values()].flatMap((agent_id) => agent_id ?? []),
  ]
  return {
    org_id: scope.org_id,
    size: log.size,
    after: log.after,
    received_at: Math.max(parts.clock(), log.last_received_at ?? 0),
    heads,
    earlier: await earlierSteps(scope, tx, heads, items),
    agents: await parts.rulebook.of(scope, tx, log.config_version, [...new Set(agent_ids)]),
    sole_agents,
    histories: parts.histories,
    placed: [],
  }
}

/** Entries that may be what is sent again; a step above all earlier ones of its task cannot be. */
async function earlierSteps(scope: Scope, tx: Transaction, heads: Batch['heads'], items: readonly Item[]) {
  const suspects = items.flatMap(({ request }) => {
    const step = request.step ?? request.step_number ?? 0
    return step <= (heads.get(request.task_id)?.max_step ?? 0) ? [{ task_id: request.task_id, step }] : []
  })
  const earlier: Batch['earlier'] = new Map()
  for (const found of await findSteps(scope, tx, suspects)) {
    const key = stepKey(found.entry.task_id, found.entry.step)
    earlier.set(key, [...(earlier.get(key) ?? []), found])
  }
  return earlier
}

/** Brings histories up to their heads: another process, or an earlier life of this one, may have written since. */
async function catchUp(scope: Scope, tx: Transaction, batch: Batch, items: readonly Item[]): Promise<void> {
  for (const task_id of new Set(items.map((item) => item.request.task_id))) {
    const head = batch.heads.get(task_id)
    const rules = head === undefined ? undefined : batch.agents.get(head.agent_id)
    if (head === undefined || rules === undefined) continue
    const cached = batch.histories.of(scope.org_id, task_id, rules.set)
    if (cached.seq >= head.seq) continue
    for (const { step, at } of await readTail(scope, tx, task_id, cached.seq)) {
      record(cached.set, cached.history, step, at)
      cached.seq++
      cached.last_at = at
    }
  }
}
