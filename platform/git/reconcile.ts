// Reads the branch of one repository and brings its assignments in step with the head (docs/design/git.md §3).
// INVARIANT (the last reading writes): each reading takes the next turn of its repository before it asks for the head, and writes
// only while no later reading has begun; a slow process cannot put an older head in force.
import { setTimeout as delay } from 'node:timers/promises'
import { type Assignment, isoTime } from '@svc/schemas'
import { findAgents } from '../agents/store/agents.js'
import { type Transaction, withSnapshot, withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { lockLog } from '../ledger/log.js'
import type { TargetAgent } from '../policies/commands/put-manifest.js'
import { assignmentsFrom, findAssignment, setHeadState } from '../policies/store/assignments.js'
import { type Branch, libraryRows, readBranch } from './branch.js'
import { chunksOf } from './chunks.js'
import { resyncAssignment } from './commands/resync-assignment.js'
import { conditionOf, differ, type NewCondition, ofRepository, since } from './conditions.js'
import { noteRepository } from './events.js'
import { noteUnreadable } from './failed-readings.js'
import { type ReadingParts, sourceNameOf, sourceOf } from './parts.js'
import { allTaken } from './places.js'
import { type Head, SourceError } from './source/source.js'
import { type FileRow, filesOf, replaceFiles } from './store/files.js'
import {
  beginReading,
  beginWriting,
  endReading,
  findRepository,
  type Reading,
  type ReadState,
  type RepositoryRow,
} from './store/repositories.js'
import { nextCheckAfter } from './timing.js'

/** `superseded`: a later reading has begun; `being_read`: an earlier one has not ended; `busy`: no place for Git is free. */
export type Outcome = 'read' | 'failed' | 'removed' | 'superseded' | 'being_read' | 'busy'

interface ReconcileOptions {
  /** The assignment that an operator resyncs: the version at the head is put in force without guards. */
  readonly by_hand?: number
  /** Only this version is put in force without guards. */
  readonly expected_sha?: string
  /** Compares every assignment with the head, also when the head has not changed. */
  readonly compares?: boolean
}

/** A request whose reading was superseded reads again when the later one has ended, or its process seems to be killed. */
const maxReadingMs = 20_000
const againMs = 100
const maxAgain = (2 * maxReadingMs) / againMs

/** Never rejects because of the repository: what is wrong with it becomes a condition. Rejects with UNAVAILABLE. */
export function reconcile(parts: ReadingParts, scope: Scope, repo_id: number): Promise<Outcome> {
  return readOnce(parts, scope, repo_id, {}, null)
}

/** The same for a request: a later reading knows nothing of what it asked for, and its answer shows what was read. */
export async function reconcileFor(
  parts: ReadingParts,
  scope: Scope,
  repo_id: number,
  options: ReconcileOptions = {},
): Promise<Outcome> {
  let outcome = await readOnce(parts, scope, repo_id, options, null)
  for (let again = 0; outcome === 'being_read' || outcome === 'superseded'; again += 1) {
    if (again === maxAgain) throw new PlatformError('UNAVAILABLE', 'the branch is being read by others: retry')
    await delay(againMs)
    outcome = await readOnce(parts, scope, repo_id, options, parts.clock() - maxReadingMs)
  }
  return outcome
}

/** Compares every assignment with the head. Rejects with RATE_LIMITED where no place becomes free. */
export async function reconcileNow(
  parts: ReadingParts,
  scope: Scope,
  repo_id: number,
  options: ReconcileOptions = {},
): Promise<void> {
  if ((await reconcileFor(parts, scope, repo_id, { ...options, compares: true })) === 'busy') throw allTaken()
}

async function readOnce(
  parts: ReadingParts,
  scope: Scope,
  repo_id: number,
  options: ReconcileOptions,
  since: number | null,
): Promise<Outcome> {
  const { db, clock } = parts
  const known = await withSnapshot(db, scope, (tx) => findRepository(scope, tx, repo_id))
  if (known === null) return 'removed'
  // Before the reading begins: one that waits for a place must not supersede another.
  const leave = await parts.places(scope, known.provider)
  if (leave === null) return 'busy'
  try {
    const reading = await withTransaction(db, scope, (tx) => beginReading(scope, tx, repo_id, clock(), since))
    return reading === null ? 'being_read' : await readOrGiveUp(parts, scope, reading, options)
  } finally {
    leave()
  }
}

async function readOrGiveUp(
  parts: ReadingParts,
  scope: Scope,
  reading: Reading,
  options: ReconcileOptions,
): Promise<Outcome> {
  try {
    return await read(parts, scope, reading, options)
  } catch (error) {
    const isLast = await giveUp(parts, scope, reading, error)
    if (!(error instanceof SourceError)) throw error
    return isLast ? 'failed' : 'superseded'
  }
}

async function read(parts: ReadingParts, scope: Scope, reading: Reading, options: ReconcileOptions): Promise<Outcome> {
  const { repository } = reading
  const source = sourceOf(parts, scope.org_id, repository)
  const known = headOf(repository)
  const head = await source.resolve(known)
  const isUnchanged =
    head.commit_sha === known?.commit_sha && repository.status === 'synced' && options.compares !== true
  if (isUnchanged) return end(parts, scope, reading, head, null)
  const [assignments, files] = await withSnapshot(parts.db, scope, async (tx) => [
    await assignmentsFrom(scope, tx, repository.id),
    repository.provider === 'bundled' ? libraryRows() : await filesOf(scope, tx, repository.id),
  ])
  const branch = await readBranch(parts, source, head.commit_sha, { files, assignments })
  for (const some of chunksOf(assignments, branch)) {
    if (!(await applyTo(parts, scope, reading, { some, head, branch, options }))) return 'superseded'
  }
  return end(parts, scope, reading, head, branch)
}

function headOf({ last_commit_sha: commit_sha, etag }: RepositoryRow): Head | null {
  return commit_sha === null ? null : { commit_sha, etag }
}

interface Application {
  readonly some: readonly Assignment[]
  readonly head: Head
  readonly branch: Branch
  readonly options: ReconcileOptions
}

/** False when a later reading has begun: nothing was written. */
function applyTo(
  parts: ReadingParts,
  scope: Scope,
  { repository, turn }: Reading,
  { some, head, branch, options: { by_hand, expected_sha } }: Application,
): Promise<boolean> {
  return withTransaction(parts.db, scope, async (tx) => {
    const { size: log_index } = await lockLog(scope, tx)
    if (!(await beginWriting(scope, tx, repository.id, turn))) return false
    const agents = await targets(scope, tx, some)
    for (const { id, agent_id } of some) {
      // It may have been removed or pinned since the branch was read.
      const assignment = await findAssignment(scope, tx, id)
      const agent = agents.get(agent_id)
      if (assignment === null || agent === undefined) continue
      const { commit_sha } = head
      const at = branch.at(assignment)
      const isChosen =
        id === by_hand && (expected_sha === undefined || (at.kind === 'valid' && at.blob_sha === expected_sha))
      const found = { commit_sha, ref: repository.branch, source: sourceNameOf(repository), at }
      const moment = { now: parts.clock(), log_index }
      await resyncAssignment(parts, scope, tx, moment, assignment, agent, found, isChosen)
    }
    return true
  })
}

async function targets(
  scope: Scope,
  tx: Transaction,
  assignments: readonly Assignment[],
): Promise<Map<string, TargetAgent>> {
  const rows = await findAgents(scope, tx, [...new Set(assignments.map(({ agent_id }) => agent_id))])
  return new Map(rows.map((agent) => [agent.agent_id, agent]))
}

/** Ends a reading of the branch; `branch` is null when nothing changed. */
async function end(
  parts: ReadingParts,
  scope: Scope,
  { repository, turn }: Reading,
  head: Head,
  branch: Branch | null,
): Promise<'read' | 'superseded'> {
  const now = parts.clock()
  const { provider, visibility, id } = repository
  const state: ReadState = {
    status: 'synced',
    conditions: [],
    last_commit_sha: head.commit_sha,
    etag: head.etag,
    failures: 0,
    visibility,
    next_check_at: provider === 'bundled' ? null : nextCheckAfter(parts, now, 0, null),
  }
  return withTransaction(parts.db, scope, async (tx) => {
    if (repository.status === 'degraded') await lockLog(scope, tx)
    if (!(await endReading(scope, tx, id, turn, now, state))) return 'superseded'
    if (branch !== null) await replaceChanged(scope, tx, id, branch.files)
    if (repository.status === 'degraded') await noteRepository(scope, tx, now, 'repository.recovered', repository)
    return 'read'
  })
}

async function replaceChanged(
  scope: Scope,
  tx: Transaction,
  repo_id: number,
  files: readonly FileRow[],
): Promise<void> {
  const keyOf = (rows: readonly FileRow[]) =>
    rows
      .map(({ path, blob_sha }) => `${blob_sha} ${path}`)
      .sort()
      .join('\n')
  if (keyOf(await filesOf(scope, tx, repo_id)) !== keyOf(files)) await replaceFiles(scope, tx, repo_id, files)
}

/**
 * Ends a reading that failed: the last valid policies stay in force, and every assignment says why. False if a later reading has
 * begun: nothing was written.
 */
async function giveUp(
  parts: ReadingParts,
  scope: Scope,
  { repository, turn }: Reading,
  error: unknown,
): Promise<boolean> {
  const now = parts.clock()
  const { code, message, retry_after } =
    error instanceof SourceError
      ? error
      : {
          code: 'fetch_failed' as const,
          message: 'the branch could not be read because of an internal error',
          retry_after: null,
        }
  const failures = repository.failures + 1
  const found = [conditionOf(code, message)]
  const conditions = since(isoTime(now), repository.conditions, found)
  const state: ReadState = {
    status: 'degraded',
    conditions,
    last_commit_sha: repository.last_commit_sha,
    etag: null,
    failures,
    visibility: repository.visibility,
    next_check_at: nextCheckAfter(parts, now, failures, retry_after),
  }
  return withTransaction(parts.db, scope, async (tx) => {
    await lockLog(scope, tx)
    if (!(await endReading(scope, tx, repository.id, turn, now, state))) return false
    await degrade(scope, tx, now, repository.id, found)
    await noteUnreadable(parts, scope, tx, now, repository, conditions)
    if (differ(repository.conditions, conditions))
      await noteRepository(scope, tx, now, 'repository.degraded', repository, { reason: code, message })
    return true
  })
}

async function degrade(
  scope: Scope,
  tx: Transaction,
  now: number,
  repo_id: number,
  found: readonly NewCondition[],
): Promise<void> {
  for (const { id, head_sha, held_sha, conditions: known } of await assignmentsFrom(scope, tx, repo_id)) {
    const others = known.filter(({ kind }) => !ofRepository.has(kind))
    const conditions = [...others, ...since(isoTime(now), known, found)]
    if (differ(known, conditions)) await setHeadState(scope, tx, id, { head_sha, held_sha, conditions })
  }
}
