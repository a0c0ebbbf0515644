// Prunes entries older than the retention period (docs/design/log.md §7): archives them in a bundle, verifies the bundle, and only
// then deletes them.
import type { IndexSpan } from '@svc/proof'
import { isoTime, type Prune } from '@svc/schemas'
import type { Logger } from 'pino'
import { organizationsUnscoped } from '../../access/store/organizations.js'
import { type Transaction, withSnapshot, withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { actorText, type Scope, scopeOf } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { defineJob, type Job } from '../../jobs/job.js'
import { recordEvents } from '../../ledger/events.js'
import { appendLeaves } from '../../ledger/leaves.js'
import { lockLog } from '../../ledger/log.js'
import { indexOfTime } from '../../ledger/log-range.js'
import { receivedAt } from '../bundle/store.js'
import { latestCheckpoint } from '../publish/store/checkpoints.js'
import { type Archived, type ArchiveParts, archive, archivedBy } from './archives.js'
import { firstOutside, intersection } from './spans.js'
import {
  deleteSpans,
  firstStored,
  forgetSpans,
  insertPrune,
  prunableSpans,
  prunesByReach,
  retentionDays,
} from './store/retention.js'

export interface RetentionParts extends ArchiveParts {
  readonly clock: () => number
  readonly logger: Logger
  /** The maximum number of entries in an archive; a longer period takes several. */
  readonly archive_entries: number
}

export interface Retention {
  /** Archives and deletes all entries older than the retention period. */
  readonly prune: (scope: Scope) => Promise<void>
  /** Prunes whole months, of every organization. */
  readonly job: Job
}

const dayMs = 86_400_000
/** The minimum number of entries in an archive: smaller ones are not split further, whatever their size. */
const minArchiveEntries = 1000
/** The number of the advisory lock; unique to this lock. */
const pruningLock = 7_283_003

/** The prune of one organization on demand, and the hourly job, for processes with the signing key of the log. */
export function createRetention(parts: RetentionParts): Retention {
  const pruneTo = (scope: Scope, cutoff: (oldest: number) => number) =>
    parts.db.exclusively(pruningLock, () => prune(parts, scope, cutoff))
  const pruneAll = async (signal: AbortSignal) => {
    let failed = 0
    for (const org_id of await withUnscopedTransaction(parts.db, organizationsUnscoped)) {
      if (signal.aborted) return
      // An error of one organization must not stop the others.
      await pruneTo(scopeOf(org_id, { kind: 'system', id: 'retention' }), startOfMonth).catch((error: unknown) => {
        failed += 1
        parts.logger.error({ err: error, org_id }, 'entries could not be pruned')
      })
    }
    if (failed > 0) throw new Error(`the entries of ${failed} organizations could not be pruned`)
  }
  const job = defineJob({
    name: 'prune-log',
    schedule: '7 * * * *',
    // Long enough to archive the largest log; the lock keeps other processes from pruning meanwhile.
    timeout_seconds: 6 * 3600,
    run: (_data, signal) => pruneAll(signal),
  })
  return { prune: (scope) => pruneTo(scope, (oldest) => oldest), job }
}

/** The first moment of the month (UTC) of a time; both ms since 1970. */
function startOfMonth(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

async function prune(parts: RetentionParts, scope: Scope, cutoff: (oldest: number) => number): Promise<void> {
  const now = parts.clock()
  await withTransaction(parts.db, scope, async (tx) => {
    const days = await retentionDays(scope, tx)
    await forgetSpans(scope, tx, isoTime(cutoff(now - days * dayMs)))
  })
  const due = await withSnapshot(parts.db, scope, (tx) => dueEntries(scope, tx, now, cutoff))
  if (due === null) return
  const known = await knownArchives(parts, scope, due.spans)
  const periods = await withSnapshot(parts.db, scope, (tx) => periodsToArchive(parts, scope, tx, due, known))
  // All archives first: no bundle can be made while a prune is not signed.
  const archived: Archived[] = []
  try {
    for (const { from, before } of periods) archived.push(await archive(parts, scope, from, before))
  } catch (error) {
    const isTooLarge = error instanceof PlatformError && error.code === 'TOO_LARGE'
    if (!isTooLarge || parts.archive_entries < minArchiveEntries) throw error
    return prune({ ...parts, archive_entries: Math.floor(parts.archive_entries / 8) }, scope, cutoff)
  }
  const inArchives = [...known, ...archived].map(({ span }) => span)
  const [furthest] = known
  // Without a new archive, only entries of released holds are deleted: an archive already holds them.
  const toDelete = archived.length > 0 || furthest === undefined ? archived : [{ ...furthest, before: due.oldest }]
  for (const one of toDelete) await deleteArchived(parts, scope, now, one, inArchives, `retention of ${due.days} days`)
}

interface Due {
  readonly days: number
  /** Entries received before this time may be deleted; they are the first `end` entries of the log. */
  readonly oldest: string
  readonly end: number
  /** The signed size. */
  readonly size: number
  readonly spans: readonly IndexSpan[]
}

/** The entries older than the retention period; null when the log has none. */
async function dueEntries(
  scope: Scope,
  tx: Transaction,
  now: number,
  cutoff: (oldest: number) => number,
): Promise<Due | null> {
  const days = await retentionDays(scope, tx)
  const size = (await latestCheckpoint(scope, tx))?.size ?? 0
  const oldest = isoTime(cutoff(now - days * dayMs))
  const end = await indexOfTime(scope, tx, oldest, size)
  const spans = end === 0 ? [] : await prunableSpans(scope, tx, end)
  return spans.length === 0 ? null : { days, oldest, end, size, spans }
}

/**
 * The archives that hold due entries, latest end first. INVARIANT (archived first): each archive is read and verified
 * again, because a row of the database does not prove that the file exists.
 */
async function knownArchives(parts: RetentionParts, scope: Scope, due: readonly IndexSpan[]): Promise<Archived[]> {
  const known: Archived[] = []
  const rows = await withSnapshot(parts.db, scope, (tx) => prunesByReach(scope, tx))
  const seen = new Set<string>()
  for (const row of rows) {
    const [furthest] = known
    const within = due.filter(([first]) => furthest !== undefined && first <= furthest.span[1])
    if (furthest !== undefined && firstOutside(within, spansOf(known)) === null) break
    const name = `${row.archive} ${row.archive_sha256}`
    if (seen.has(name)) continue
    seen.add(name)
    const found = await archivedBy(parts, scope, row)
    if (found !== null) known.push(found)
    else parts.logger.warn({ prune: row.id, archive: row.archive }, 'an archive is missing or invalid')
  }
  return known
}

function spansOf(archives: readonly Archived[]): IndexSpan[] {
  return archives.map(({ span }) => span)
}

/** The consecutive periods to archive, up to the cutoff. */
async function periodsToArchive(
  { archive_entries }: RetentionParts,
  scope: Scope,
  tx: Transaction,
  { oldest, end, size, spans }: Due,
  known: readonly Archived[],
) {
  const periods: { from: number | null; before: string }[] = []
  const outside = firstOutside(spans, spansOf(known))
  if (outside === null) return periods
  const [furthest] = known
  // When an archive is missing, the first new one begins with the log and holds all entries that are left.
  let from = furthest !== undefined && outside > furthest.span[1] ? furthest.before : null
  let next = from === null ? 0 : await indexOfTime(scope, tx, from, size)
  while (next < end) {
    // A period begins after a stored entry: its bundle includes that entry, which shows that none is missing.
    next = Math.min(end, ((await firstStored(scope, tx, next + archive_entries - 1)) ?? end) + 1)
    const before = next < end ? ((await receivedAt(scope, tx, next)) ?? oldest) : oldest
    // Entries received in the same millisecond stay together.
    if (before === from) continue
    periods.push({ from: from === null ? null : Date.parse(from), before })
    from = before
  }
  return periods
}

/** Deletes entries received before the end of the archived period that may be deleted and are in one of the archives. */
async function deleteArchived(
  { db }: RetentionParts,
  scope: Scope,
  now: number,
  { archive, archive_sha256, before }: Archived,
  inArchives: readonly IndexSpan[],
  legal_basis: string,
) {
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    // Read again under the lock: tasks may have new entries or holds.
    const end = await indexOfTime(scope, tx, before, (await latestCheckpoint(scope, tx))?.size ?? 0)
    const spans = intersection(await prunableSpans(scope, tx, end), inArchives)
    await deleteSpans(scope, tx, spans)
    const prune: Prune = {
      id: newId('prn', now),
      before,
      archive,
      archive_sha256,
      entries: spans.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      pruned_by: actorText(scope),
      pruned_at: isoTime(now),
      legal_basis,
    }
    await insertPrune(scope, tx, prune)
    const data = { prune: { ...prune, entries: spans } }
    await appendLeaves(scope, tx, now, [{ type: 'prune', subject_id: prune.id, data }])
    const event = { kind: 'log.pruned', subject_kind: 'log', subject_id: scope.org_id, data: { ...prune } }
    await recordEvents(scope, tx, now, [event])
  })
}
