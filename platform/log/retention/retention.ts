// Taking out what is older than it is kept (docs/design/log.md §7): into a bundle first, which must verify, and only then out of the log.
import { covers, type IndexSpan } from '@svc/proof'
import type { Prune } from '@svc/schemas'
import type { Logger } from 'pino'
import { organizationsUnscoped } from '../../access/store/organizations.js'
import { type Transaction, withSnapshot, withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { type IntervalWorker, startIntervalWorker } from '../../jobs/interval-worker.js'
import { recordEvents } from '../../ledger/events.js'
import { appendLeaves } from '../../ledger/leaves.js'
import { lockLog } from '../../ledger/log.js'
import { placeOfTime } from '../../ledger/log-range.js'
import { receivedAt } from '../bundle/store.js'
import { latestCheckpoint } from '../publish/store/checkpoints.js'
import { type Archived, type ArchiveParts, archive, archivedBy } from './archives.js'
import {
  deletePlaces,
  firstStored,
  insertPrune,
  prunablePlaces,
  prunesByReach,
  retentionDays,
} from './store/retention.js'

export interface RetentionParts extends ArchiveParts {
  readonly clock: () => number
  readonly logger: Logger
  /** Entries of one archive at most; a longer period takes several. */
  readonly archive_entries: number
}

export interface Retention {
  /** Prunes what may go. */
  readonly prune: (scope: Scope) => Promise<void>
  readonly close: () => Promise<void>
}

const day = 86_400_000
const hour = 3_600_000
/** Entries that are archived together however long they are. */
const fewestEntries = 1000
/** Any number that only this program locks. */
const pruningLock = 7_283_003

/** Looks hourly, in the processes that hold the log's key, for whole months that may go. */
export function startRetention(parts: RetentionParts, own: boolean): Retention {
  const pruneTo = (scope: Scope, cutoff: (oldest: number) => number) =>
    parts.db.exclusively(pruningLock, () => pruned(parts, scope, cutoff))
  const failed = (error: unknown) => parts.logger.error({ err: error }, 'entries could not be pruned')
  const turn = async (closed: () => boolean) => {
    for (const org_id of await withUnscopedTransaction(parts.db, organizationsUnscoped)) {
      if (closed()) return
      // What stops one organization must not stop the others.
      await pruneTo(scopeOf(org_id, { kind: 'system', id: 'retention' }), startOfMonth).catch(failed)
    }
  }
  const idle: IntervalWorker = { close: async () => undefined, closed: () => true }
  const worker = own ? startIntervalWorker(hour, turn, failed) : idle
  return { prune: (scope) => pruneTo(scope, (oldest) => oldest), close: worker.close }
}

/** The first moment of a month in UTC; ms since 1970, as is the time in it. */
function startOfMonth(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

async function pruned(parts: RetentionParts, scope: Scope, cutoff: (oldest: number) => number): Promise<void> {
  const now = parts.clock()
  const due = await withSnapshot(parts.db, scope, (tx) => dueIn(scope, tx, now, cutoff))
  if (due === null) return
  const known = await knownArchives(parts, scope, due.places)
  const periods = await withSnapshot(parts.db, scope, (tx) => planned(parts, scope, tx, due, known))
  // All of them first: while a prune is not signed for, no bundle can be made.
  const archived: Archived[] = []
  try {
    for (const { from, before } of periods) archived.push(await archive(parts, scope, from, before))
  } catch (error) {
    const isTooLarge = error instanceof PlatformError && error.code === 'TOO_LARGE'
    if (!isTooLarge || parts.archive_entries < fewestEntries) throw error
    return pruned({ ...parts, archive_entries: Math.floor(parts.archive_entries / 8) }, scope, cutoff)
  }
  const held = [...known, ...archived].map(({ places }) => places)
  const [furthest] = known
  // What was held until now is in an archive already.
  const taken = archived.length > 0 || furthest === undefined ? archived : [{ ...furthest, before: due.oldest }]
  for (const one of taken) await takeOut(parts, scope, now, one, held, `retention of ${due.days} days`)
}

interface Due {
  readonly days: number
  /** Entries received before this may go, which are those of the first `end` places. */
  readonly oldest: string
  readonly end: number
  readonly size: number
  readonly places: readonly IndexSpan[]
}

/** What may go; null when nothing may. */
async function dueIn(
  scope: Scope,
  tx: Transaction,
  now: number,
  cutoff: (oldest: number) => number,
): Promise<Due | null> {
  const days = await retentionDays(scope, tx)
  const size = (await latestCheckpoint(scope, tx))?.size ?? 0
  const oldest = new Date(cutoff(now - days * day)).toISOString()
  const end = await placeOfTime(scope, tx, oldest, size)
  const places = end === 0 ? [] : await prunablePlaces(scope, tx, end)
  return places.length === 0 ? null : { days, oldest, end, size, places }
}

/**
 * The archives that hold what may go, as far as any does, the one that reaches furthest first. INVARIANT (archived first):
 * each is read and verified again, because a row of the database is no proof that there is one.
 */
async function knownArchives(parts: RetentionParts, scope: Scope, due: readonly IndexSpan[]): Promise<Archived[]> {
  const known: Archived[] = []
  const rows = await withSnapshot(parts.db, scope, (tx) => prunesByReach(scope, tx))
  const seen = new Set<string>()
  for (const row of rows) {
    const [furthest] = known
    const inside = due.filter(([first]) => furthest !== undefined && first <= furthest.places[1])
    if (furthest !== undefined && firstOutside(inside, known) === null) break
    const name = `${row.archive} ${row.archive_sha256}`
    if (seen.has(name)) continue
    seen.add(name)
    const found = await archivedBy(parts, scope, row)
    if (found !== null) known.push(found)
    else parts.logger.warn({ prune: row.id, archive: row.archive }, 'an archive is missing or does not verify')
  }
  return known
}

/** The first of these places that no archive holds; null when each is in one. */
function firstOutside(places: readonly IndexSpan[], archives: readonly Pick<Archived, 'places'>[]): number | null {
  const held = archives.map((one) => one.places)
  for (const [first, last] of places)
    for (let place = first; place <= last; place++) {
      const around = held.find((range) => covers([range], place))
      if (around === undefined) return place
      place = around[1]
    }
  return null
}

/** The periods to archive, one after the other, up to what is old. */
async function planned(
  { archive_entries }: RetentionParts,
  scope: Scope,
  tx: Transaction,
  { oldest, end, size, places }: Due,
  known: readonly Archived[],
) {
  const periods: { from: number | null; before: string }[] = []
  const outside = firstOutside(places, known)
  if (outside === null) return periods
  const [furthest] = known
  // Where an archive is gone, all that is left goes into new ones: their first period begins with the log.
  let from = furthest !== undefined && outside > furthest.places[1] ? furthest.before : null
  let next = from === null ? 0 : await placeOfTime(scope, tx, from, size)
  while (next < end) {
    // An archive is complete when the entry before it is there to show that it is older.
    next = Math.min(end, ((await firstStored(scope, tx, next + archive_entries - 1)) ?? end) + 1)
    const before = next < end ? ((await receivedAt(scope, tx, next)) ?? oldest) : oldest
    // What was received in the same millisecond stays together.
    if (before === from) continue
    periods.push({ from: from === null ? null : Date.parse(from), before })
    from = before
  }
  return periods
}

/** Takes out what was received before the end of the archived period, may go, and is in one of the archives. */
async function takeOut(
  { db }: RetentionParts,
  scope: Scope,
  now: number,
  { archive, archive_sha256, before }: Archived,
  held: readonly IndexSpan[],
  legal_basis: string,
) {
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    // What has come or was held since may not go.
    const end = await placeOfTime(scope, tx, before, (await latestCheckpoint(scope, tx))?.size ?? 0)
    const places = common(await prunablePlaces(scope, tx, end), held)
    await deletePlaces(scope, tx, places)
    const { kind, id: by } = scope.actor
    const prune: Prune = {
      ...{ id: newId('prn', now), before, archive, archive_sha256 },
      entries: places.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      ...{ pruned_by: `${kind}:${by}`, pruned_at: new Date(now).toISOString(), legal_basis },
    }
    await insertPrune(scope, tx, prune)
    const data = { prune: { ...prune, entries: places } }
    await appendLeaves(scope, tx, now, [{ type: 'prune', subject_id: prune.id, data }])
    const event = { kind: 'log.pruned', subject_kind: 'log', subject_id: scope.org_id, data: { ...prune } }
    await recordEvents(scope, tx, now, [event])
  })
}

/** The places that are in a range of either list. */
function common(places: readonly IndexSpan[], held: readonly IndexSpan[]): IndexSpan[] {
  const ranges = [...held].sort(([a], [b]) => a - b)
  const found: [number, number][] = []
  for (const [first, last] of places) {
    let next = first
    for (const [from, to] of ranges) {
      const [begin, end] = [Math.max(next, from), Math.min(last, to)]
      if (begin > end) continue
      const before = found.at(-1)
      if (before !== undefined && before[1] === begin - 1) before[1] = end
      else found.push([begin, end])
      next = end + 1
    }
  }
  return found
}
