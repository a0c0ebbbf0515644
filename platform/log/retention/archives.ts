// Archives of pruned entries. A row of the database counts only when the file it names verifies and belongs to this log.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hexOf, type IndexSpan, parseTrustPolicy } from '@svc/proof'
import { verifyBundle } from '@svc/proof/verify'
import type { BundleVerdict, Prune } from '@svc/schemas'
import { type Database, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { Bundles } from '../bundle/bundles.js'
import { originOf } from '../publish/origin.js'
import { hashesOf } from '../publish/store/tree.js'

export interface ArchiveParts {
  readonly db: Database
  readonly bundles: Bundles
  readonly log_host: string
  readonly everyVerifierOf: (origin: string) => readonly string[]
  readonly epochOf: (org_id: string) => number
  /** The folder of the archives. */
  readonly archive_dir: string
}

export interface Archived extends Pick<Prune, 'archive' | 'archive_sha256' | 'before'> {
  /** The log indexes that the archive holds, as verified. */
  readonly span: IndexSpan
}

/** Writes the bundle of a period to the archive folder and syncs it to disk. Rejects with CONFLICT when it does not verify. */
export async function archive(
  parts: ArchiveParts,
  scope: Scope,
  from: number | null,
  before: string,
): Promise<Archived> {
  const made = await parts.bundles.archive(scope, { from, to: Date.parse(before), since: null })
  try {
    const { log_indexes, findings } = await verdictOn(parts, scope, made.path)
    const [finding] = findings
    if (finding !== undefined || log_indexes === null)
      throw new PlatformError('CONFLICT', `nothing is pruned: the log does not verify: ${finding?.message}`)
    const archive_sha256 = await sha256Of(made.path)
    const name = `${scope.org_id}-before-${before.slice(0, 10)}-${archive_sha256.slice(0, 8)}.zip`
    await storeSynced(made.path, parts.archive_dir, name, archive_sha256)
    return { archive: name, archive_sha256, before, span: [log_indexes.first, log_indexes.end - 1] }
  } finally {
    await made.discard()
  }
}

/** The archive that a row names, if the file has the SHA-256 of the row, verifies and belongs to this log; else null. */
export async function archivedBy(
  parts: ArchiveParts,
  scope: Scope,
  { archive: name, archive_sha256 }: Prune,
): Promise<Archived | null> {
  if (!/^[A-Za-z0-9_-]+\.zip$/.test(name)) return null
  const path = join(parts.archive_dir, name)
  if ((await sha256Of(path).catch(() => null)) !== archive_sha256) return null
  const { valid, log_indexes, period, checkpoint } = await verdictOn(parts, scope, path)
  if (!valid || log_indexes === null || period.to === null || checkpoint === null) return null
  if (!(await isPast(parts, scope, checkpoint))) return null
  return { archive: name, archive_sha256, before: period.to, span: [log_indexes.first, log_indexes.end - 1] }
}

/** True if the log had this root at this size: after a restore from a backup its entries may differ. */
async function isPast({ db }: ArchiveParts, scope: Scope, { size, root }: NonNullable<BundleVerdict['checkpoint']>) {
  const [own] = await withSnapshot(db, scope, (tx) => hashesOf(scope, tx, [{ from: 0, to: size }])).catch(() => [])
  return own !== undefined && hexOf(own) === root
}

function verdictOn(parts: ArchiveParts, scope: Scope, path: string): Promise<BundleVerdict> {
  const { log_host, everyVerifierOf, epochOf } = parts
  const origins = Array.from({ length: epochOf(scope.org_id) }, (_, at) => originOf(log_host, scope.org_id, at + 1))
  const lines = origins.flatMap(everyVerifierOf).map((key) => `log ${key}\n`)
  return verifyBundle({ path, policy: parseTrustPolicy(lines.join('')).value, since: null })
}

/** INVARIANT (archived first): the whole file is synced to disk in the archive before any of its entries is deleted. */
async function storeSynced(path: string, folder: string, name: string, sha256: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `${name}.part`)
  try {
    await copyFile(path, draft)
    await sync(draft)
    if ((await sha256Of(draft)) !== sha256)
      throw new PlatformError('CONFLICT', `nothing is pruned: \`${draft}\` differs from the data written to it`)
    await rename(draft, join(folder, name))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  if (process.platform !== 'win32') await sync(folder)
}

async function sync(path: string): Promise<void> {
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
