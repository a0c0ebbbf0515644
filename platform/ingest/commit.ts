// One group commit (docs/design/log.md §2), from the lock of the organization's log to the outcomes.
// INVARIANT (order): only the holder of the log's lock appends entries, so that seq, log_index and received_at have neither
// gaps nor forks, however many processes write.
import { Task, type TaskTable } from '@svc/engine'
import type { AgentRules, Rulebook } from '../agents/rulebook.js'
import { soleActiveAgents } from '../agents/store/agents.js'
import { type Database, type Transaction, withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { Triggering } from '../incidents/actions/triggers.js'
import { raiseIncidents } from '../incidents/commands/raise-incidents.js'
import { settleQuestions } from '../incidents/commands/settle-questions.js'
import { appendEntries, findSteps, lockLog, type NewHead, readHeads, readTail } from '../ledger/log.js'
import { type NamedSubject, rememberSubjects } from '../ledger/subjects.js'
import { insertViolations, type NewViolation } from '../ledger/violations.js'
import type { Sealer } from '../secrets/seal.js'
import { append, namedAgent } from './append.js'
import { approvedSteps } from './approved-steps.js'
import { type AppendedEntry, type Batch, type Item, type Outcome, rulesOf, stepKey } from './batch.js'
import { openMemories } from './memory.js'
import { openOrigins } from './origins.js'
import { type Pace, paced } from './pace.js'
import type { Partitions } from './partitions.js'
import { foundViolations } from './violations.js'

export interface CommitParts extends Triggering {
  readonly db: Database
  readonly clock: () => number
  /** Counts a commit. */
  readonly committed: (commit: { readonly entries: number; readonly violations: number }) => void
  /** Encrypts the keys that subjects are hashed with. */
  readonly sealer: Sealer
  /** Receives a line for each agent whose memory has overflowed. */
  readonly remark: (message: string) => void
  readonly rulebook: Rulebook
  /** The most recently used tasks, by `taskKey`; others are read from the log. */
  readonly tasks: TaskTable<Task>
  readonly partitions: Partitions
  readonly pace: Pace
}

/**
 * Appends the items in order and commits them together; calls `meanwhile` while the database writes. Rejects when nothing
 * was committed, or when the outcome of the commit is unknown.
 */
export async function commitBatch(
  parts: CommitParts,
  scope: Scope,
  items: readonly Item[],
  meanwhile: () => void,
): Promise<Outcome[]> {
  try {
    let entries = 0
    let violations = 0
    let overflowed: readonly string[] = []
    let tasks: Batch['tasks'] = new Map()
    const outcomes = await withTransaction(parts.db, scope, async (tx) => {
      const batch = await openBatch(parts, scope, tx, items)
      tasks = batch.tasks
      await catchUp(parts, scope, tx, batch)
      const answers = await paced(parts.pace, items, (item) => append(batch, item))
      entries = batch.appended.length
      violations = batch.appended.reduce((sum, appended) => sum + appended.violations.length, 0)
      if (entries > 0) overflowed = await write(parts, scope, tx, batch, meanwhile)
      else if (batch.origins.hasNew()) await batch.origins.write(scope, tx)
      return answers
    })
    for (const [task_id, task] of tasks) parts.tasks.keep(taskKey(scope, task_id), task)
    if (entries > 0) parts.committed({ entries, violations })
    for (const agent_id of overflowed) parts.remark(overflowLine(agent_id))
    return outcomes
  } catch (error) {
    // The caches include this batch, whose commit may have failed.
    parts.rulebook.forget(scope.org_id)
    parts.partitions.forget()
    for (const { request } of items) parts.tasks.delete(taskKey(scope, request.task_id))
    throw error
  }
}

function overflowLine(agent_id: string): string {
  return `the memory of agent \`${agent_id}\` is larger than is followed: all of it counts as content of others`
}

/** Returns the agents whose memories have overflowed. */
async function write(parts: CommitParts, scope: Scope, tx: Transaction, batch: Batch, meanwhile: () => void) {
  const { appended, received_at } = batch
  await parts.partitions.ensure(tx, received_at)
  const violations = appended.flatMap((one) => one.violations).filter(({ waived }) => !waived)
  const written = appendEntries(scope, tx, received_at, appended, changedHeads(batch), violations.length)
  meanwhile()
  await written
  await rememberSubjects(scope, tx, parts.sealer, appended.flatMap(namedSubjects))
  await batch.origins.write(scope, tx)
  await insertViolations(scope, tx, appended.flatMap(violationRows))
  await raiseIncidents(parts, scope, tx, received_at, foundViolations(appended))
  await settleQuestions(parts, scope, tx, received_at, await approvedSteps(scope, tx, parts.sealer, appended))
  return batch.memories.write(scope, tx)
}

function changedHeads({ appended, heads }: Batch): NewHead[] {
  const added = new Map<string, number>()
  for (const { entry, violations } of appended)
    added.set(entry.task_id, (added.get(entry.task_id) ?? 0) + violations.length)
  return [...heads.values()].flatMap((head) => {
    const violations = added.get(head.task_id)
    return violations === undefined ? [] : [{ ...head, violations }]
  })
}

function namedSubjects({ subjects, entry: { log_index } }: AppendedEntry): NamedSubject[] {
  return subjects.map((subject) => ({ subject, log_index }))
}

function violationRows({ violations, entry: { log_index, task_id, seq } }: AppendedEntry): NewViolation[] {
  return violations.map((violation) => ({ log_index, task_id, seq, ...violation }))
}

async function openBatch(parts: CommitParts, scope: Scope, tx: Transaction, items: readonly Item[]): Promise<Batch> {
  const log = await lockLog(scope, tx)
  const heads = await readHeads(scope, tx, [...new Set(items.map((item) => item.request.task_id))])
  const unnamed = items.filter((item) => namedAgent(item) === null && !heads.has(item.request.task_id))
  const sole_agents = await soleActiveAgents(scope, tx, [...new Set(unnamed.map((item) => item.key.key_id))])
  const named = [
    ...[...heads.values()].map((head) => head.agent_id),
    ...items.flatMap((item) => namedAgent(item) ?? []),
    ...[...sole_agents.values()].flatMap((agent_id) => agent_id ?? []),
  ]
  const agent_ids = [...new Set(named)]
  const steps = items.map((item) => [item, item.request] as const)
  const origins = await openOrigins(scope, tx, parts.sealer, items)
  const agents = await parts.rulebook.of(scope, tx, log.config_version, agent_ids)
  return {
    org_id: scope.org_id,
    size: log.size,
    after: log.after,
    received_at: Math.max(parts.clock(), log.last_received_at ?? 0),
    heads,
    earlier: await earlierSteps(scope, tx, heads, items, origins.known),
    agents,
    kept_rules: await keptRules(parts, scope, tx, heads, agents),
    sole_agents,
    tasks: new Map(),
    origins,
    memories: await openMemories(scope, tx, parts.sealer, steps, agent_ids),
    appended: [],
  }
}

/** The rules of the tasks that keep earlier versions of manifests than their agents. */
async function keptRules(
  { rulebook }: CommitParts,
  scope: Scope,
  tx: Transaction,
  heads: Batch['heads'],
  agents: Batch['agents'],
) {
  const kept = new Map<string, AgentRules>()
  for (const { task_id, agent_id, first_log_index } of heads.values()) {
    const rules = agents.get(agent_id)
    const own = rules && (await rulebook.ofTask(scope, tx, rules, first_log_index))
    if (own !== undefined && own !== rules) kept.set(task_id, own)
  }
  return kept
}

/** Entries that an item may replay; a step number above all earlier ones of its task is new. */
async function earlierSteps(
  scope: Scope,
  tx: Transaction,
  heads: Batch['heads'],
  items: readonly Item[],
  known: Batch['origins']['known'],
) {
  const wanted = items.flatMap(({ request }) => {
    const step = request.step ?? request.step_number
    return step !== undefined && step <= (heads.get(request.task_id)?.max_step ?? 0)
      ? [{ task_id: request.task_id, step }]
      : []
  })
  const earlier: Batch['earlier'] = new Map()
  for (const found of await findSteps(scope, tx, [...wanted, ...known])) {
    const key = stepKey(found.entry.task_id, found.entry.step)
    earlier.set(key, [...(earlier.get(key) ?? []), found])
  }
  return earlier
}

/** Brings its tasks up to their heads: another process, or this one before a restart, may have written entries. */
async function catchUp({ tasks }: CommitParts, scope: Scope, tx: Transaction, batch: Batch): Promise<void> {
  for (const { task_id, agent_id, seq } of batch.heads.values()) {
    const rules = rulesOf(batch, agent_id, task_id)
    if (rules === undefined) continue
    const known = tasks.get(taskKey(scope, task_id))
    const task = known?.set === rules.set ? known : new Task(rules.set)
    if (task.length < seq)
      for (const { step, at } of await readTail(scope, tx, task_id, task.length)) task.add(step, at)
    batch.tasks.set(task_id, task)
  }
}

function taskKey({ org_id }: Scope, task_id: string): string {
  return `${org_id}\0${task_id}`
}
