// Taking out what is older than it is kept (log.md §7): into a bundle first, which must verify, and only then out of the log.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseTrustPolicy, verifyBundle } from '@svc/engine'
import type { Prune } from '@svc/schemas'
import type { Logger } from 'pino'
import { PlatformError } from '../errors.js'
import { newId } from '../ids.js'
import { receivedAt } from '../store/bundle-reads.js'
import { latestCheckpoint } from '../store/checkpoints.js'
import { type Database, type Transaction, withSnapshot, withTransaction, withUnscopedTransaction } from '../store/db.js'
import { recordEvents } from '../store/events.js'
import { appendLeaves } from '../store/leaves.js'
import { lockLog } from '../store/log.js'
import { placeOfTime } from '../store/log-range.js'
import { organizationsUnscoped } from '../store/organizations.js'
import { deletePlaces, insertPrune, lastArchived, prunablePlaces, retentionDays } from '../store/retention.js'
import { type Scope, scopeOf } from '../store/scope.js'
import type { Bundles } from './bundles.js'
import { every, type Repeating } from './every.js'
import { originOf } from './publish.js'

export interface RetentionParts {
  readonly db: Database
  readonly clock: () => number
  readonly logger: Logger
  readonly bundles: Bundles
  readonly log_host: string
  readonly everyVerifierOf: (origin: string) => readonly string[]
  /** Where bundles of what was pruned are kept. */
  readonly archive_dir: string
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
  const idle: Repeating = { close: async () => undefined, closed: () => true }
  const repeating = own ? every(hour, turn, failed) : idle
  return { prune: (scope) => pruneTo(scope, (oldest) => oldest), close: repeating.close }
}

/** The first moment of a month in UTC; ms since 1970, as is the time in it. */
function startOfMonth(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

async function pruned(parts: RetentionParts, scope: Scope, cutoff: (oldest: number) => number): Promise<void> {
  const now = parts.clock()
  const plan = await withSnapshot(parts.db, scope, (tx) => planned(parts, scope, tx, now, cutoff))
  if (plan === null) return
  // All of them first: while a prune is not signed for, no bundle can be made.
  const archived: Archived[] = []
  try {
    for (const { from, before } of plan.periods)
      archived.push({ ...(await archive(parts, scope, plan.origin, from, before)), before })
  } catch (error) {
    const isTooLarge = error instanceof PlatformError && error.code === 'TOO_LARGE'
    if (!isTooLarge || parts.archive_entries < fewestEntries) throw error
    return pruned({ ...parts, archive_entries: Math.floor(parts.archive_entries / 8) }, scope, cutoff)
  }
  // What was held until now is in an archive already.
  if (plan.last !== null) archived.push({ ...plan.last, before: plan.oldest })
  for (const one of archived) await takeOut(parts, scope, now, one, `retention of ${plan.days} days`)
}

/** The periods to archive, one after the other, up to what is old; null when nothing may go. */
async function planned(
  { log_host, archive_entries }: RetentionParts,
  scope: Scope,
  tx: Transaction,
  now: number,
  cutoff: (oldest: number) => number,
) {
  const days = await retentionDays(scope, tx)
  const checkpoint = await latestCheckpoint(scope, tx)
  const size = checkpoint?.size ?? 0
  const oldest = new Date(cutoff(now - days * day)).toISOString()
  const end = await placeOfTime(scope, tx, oldest, size)
  if (checkpoint === null || end === 0 || (await prunablePlaces(scope, tx, end)).length === 0) return null
  const done = await lastArchived(scope, tx)
  const periods: { from: number | null; before: string }[] = []
  let from = done?.before ?? null
  let next = from === null ? 0 : await placeOfTime(scope, tx, from, size)
  while (next < end) {
    next = Math.min(end, next + archive_entries)
    const before = next < end ? ((await receivedAt(scope, tx, next)) ?? oldest) : oldest
    // What was received in the same millisecond stays together.
    if (before === from) continue
    periods.push({ from: from === null ? null : Date.parse(from), before })
    from = before
  }
  const origin = originOf(log_host, scope.org_id, checkpoint.incarnation)
  return { days, origin, oldest, periods, last: periods.length === 0 ? done : null }
}

type Archived = Pick<Prune, 'archive' | 'archive_sha256' | 'before'>

/** Takes out what was received before the end of the archived period, and may go. */
async function takeOut({ db }: RetentionParts, scope: Scope, now: number, archived: Archived, legal_basis: string) {
  const { archive, archive_sha256, before } = archived
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    // What has come or was held since may not go; nothing can go that is not in this archive or an earlier one.
    const end = await placeOfTime(scope, tx, before, (await latestCheckpoint(scope, tx))?.size ?? 0)
    const places = await prunablePlaces(scope, tx, end)
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

/** Writes the bundle of the period to the archive and forces it to disk. Rejects with CONFLICT when it does not verify. */
async function archive(parts: RetentionParts, scope: Scope, origin: string, from: number | null, before: string) {
  const { bundles, archive_dir, everyVerifierOf } = parts
  const made = await bundles.archive(scope, { from, to: Date.parse(before), since: null })
  try {
    const lines = everyVerifierOf(origin).map((key) => `log ${key}\n`)
    const { value: policy } = parseTrustPolicy(lines.join(''))
    const { valid, findings } = await verifyBundle({ path: made.path, policy, since: null })
    if (!valid)
      throw new PlatformError('CONFLICT', `nothing is pruned, because the log does not verify: ${findings[0]?.message}`)
    const archive_sha256 = await sha256Of(made.path)
    const name = `${scope.org_id}-before-${before.slice(0, 10)}-${archive_sha256.slice(0, 8)}.zip`
    await keep(made.path, archive_dir, name)
    return { archive: name, archive_sha256 }
  } finally {
    await made.discard()
  }
}

/** INVARIANT (archived first): the whole file stands in the archive, on disk, before anything of it is deleted. */
async function keep(path: string, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `${name}.part`)
  try {
    await copyFile(path, draft)
    await forced(draft)
    await rename(draft, join(folder, name))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  if (process.platform !== 'win32') await forced(folder)
}

async function forced(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
