// The signed checkpoints of each log.

import type { PublishedRoots } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { utc } from '../../../db/sql.js'

export interface StoredCheckpoint {
  readonly epoch: number
  readonly size: number
  readonly root: string
  /** The signed note. */
  readonly note: string
  readonly published_at: string
}

/** The size of a log, and the size that is signed. */
export interface LogProgress {
  readonly size: number
  readonly epoch: number
  readonly checkpoint_size: number
  readonly checkpoint_root: string
  /** True if this epoch has a checkpoint; later epochs begin with that of the previous epoch. */
  readonly has_own: boolean
}

const columns = `epoch, size, root, note, ${utc('published_at')}`

/** The last published checkpoint; null before the first. */
export async function latestCheckpoint(scope: Scope, tx: Transaction): Promise<StoredCheckpoint | null> {
  const [row] = await tx.query<StoredCheckpoint>(
    `select ${columns} from checkpoints where org_id = $1 order by epoch desc, size desc, published_at desc limit 1`,
    [scope.org_id],
  )
  return row ?? null
}

/** The maximum number of notes to search for a signed one. */
const maxNotes = 100

/** The newest notes of an epoch for at most `size` entries. The caller verifies their signatures. */
export async function notesUpTo(scope: Scope, tx: Transaction, epoch: number, size: number): Promise<string[]> {
  const rows = await tx.query<{ note: string }>(
    `select note from checkpoints where org_id = $1 and epoch = $2 and size <= $3
     order by size desc, published_at desc limit ${maxNotes}`,
    [scope.org_id, epoch, size],
  )
  return rows.map(({ note }) => note)
}

/** Notes of later epochs, the latest epoch first. The caller verifies their signatures. */
export async function notesAfter(scope: Scope, tx: Transaction, epoch: number) {
  return tx.query<{ epoch: number; note: string }>(
    `select epoch, note from checkpoints where org_id = $1 and epoch > $2
     order by epoch desc, size desc limit ${maxNotes}`,
    [scope.org_id, epoch],
  )
}

/** The published roots of these sizes. */
export async function publishedRoots(scope: Scope, tx: Transaction, sizes: readonly number[]): Promise<PublishedRoots> {
  const wanted = [...new Set(sizes)].filter((size) => size > 0)
  if (wanted.length === 0) return new Map()
  const rows = await tx.query<{ size: number; roots: string[] }>(
    'select size, array_agg(distinct root) as roots from checkpoints where org_id = $1 and size = any($2::bigint[]) group by size',
    [scope.org_id, wanted],
  )
  return new Map(rows.map(({ size, roots }) => [size, roots]))
}

/** The root of the published checkpoint of this size, of the latest epoch that has one; null without one. */
export async function rootOfSize(scope: Scope, tx: Transaction, size: number): Promise<string | null> {
  const [row] = await tx.query<{ root: string }>(
    `select root from checkpoints where org_id = $1 and size = $2 order by epoch desc, published_at limit 1`,
    [scope.org_id, size],
  )
  return row?.root ?? null
}

/** The published sizes nearest to `size` on both sides, from `first` to `last`; smallest first. */
export async function nearestSizes(
  scope: Scope,
  tx: Transaction,
  size: number,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<number[]> {
  const rows = await tx.query<{ size: number | null }>(
    `select max(size) as size from checkpoints where org_id = $1 and size >= $3 and size < $2 and size <= $4
     union select min(size) from checkpoints where org_id = $1 and size > $2 and size >= $3 and size <= $4 order by size`,
    [scope.org_id, size, first, last],
  )
  return rows.flatMap((row) => row.size ?? [])
}

/** The progress of a log. */
export async function readProgress(scope: Scope, tx: Transaction): Promise<LogProgress> {
  const [row] = await tx.query<LogProgress>(
    `select size, epoch, checkpoint_size, checkpoint_root, exists (select 1 from checkpoints c
       where c.org_id = l.org_id and c.epoch = l.epoch) as has_own
     from org_log l where org_id = $1`,
    [scope.org_id],
  )
  if (row === undefined) throw new Error(`organization \`${scope.org_id}\` has no log`)
  return row
}

/** Inserts a checkpoint, which later records name. */
export async function insertCheckpoint(
  scope: Scope,
  tx: Transaction,
  now: number,
  checkpoint: Omit<StoredCheckpoint, 'published_at'>,
) {
  const at = isoTime(now)
  const { epoch, size, root, note } = checkpoint
  await tx.query(
    `insert into checkpoints (org_id, epoch, size, root, note, published_at) values ($1, $2, $3, $4, $5, $6)`,
    [scope.org_id, epoch, size, root, note, at],
  )
  await tx.query(
    'update org_log set checkpoint_size = $2, checkpoint_root = $3, checkpoint_at = $4 where org_id = $1',
    [scope.org_id, size, root, at],
  )
}

/** Organizations whose log has grown since its last checkpoint, or whose last checkpoint is older than `before` (ms since 1970). */
export async function dueForCheckpointUnscoped(tx: Transaction, before: number): Promise<string[]> {
  const rows = await tx.query<{ org_id: string }>(
    `select org_id from org_log where size > checkpoint_size or (size > 0 and checkpoint_at < $1) order by org_id`,
    [isoTime(before)],
  )
  return rows.map(({ org_id }) => org_id)
}

/** When the oldest entry was received that no checkpoint covers, ms since 1970; null when all are covered. */
export async function oldestNotCoveredUnscoped(tx: Transaction): Promise<number | null> {
  const [row] = await tx.query<{ at: number | null }>(
    `select extract(epoch from min(l.received_at))::float8 * 1000 as at from org_log o cross join lateral (
       select received_at from log_leaves where org_id = o.org_id and log_index = o.checkpoint_size) l
     where o.size > o.checkpoint_size`,
  )
  return row?.at ?? null
}

export interface LogIdentity {
  readonly log_host: string
  /** Hex. */
  readonly public_key: string
}

/** The name and the key of this installation in checkpoints; the first call stores the proposed ones. */
export async function logIdentityUnscoped(tx: Transaction, proposed: LogIdentity): Promise<LogIdentity> {
  await tx.query('insert into svc_log_identity (log_host, public_key) values ($1, $2) on conflict do nothing', [
    proposed.log_host,
    proposed.public_key,
  ])
  const [row] = await tx.query<LogIdentity>('select log_host, public_key from svc_log_identity')
  return row ?? proposed
}

/** Stores the public key (hex) that signs from now on. */
export async function setLogKeyUnscoped(tx: Transaction, public_key: string): Promise<void> {
  await tx.query('update svc_log_identity set public_key = $1', [public_key])
}

/** Adds a signature line to the note of a published checkpoint, unless it has that line. */
export async function addSignature(
  scope: Scope,
  tx: Transaction,
  { epoch, size, published_at }: StoredCheckpoint,
  line: string,
): Promise<void> {
  await tx.query(
    `update checkpoints set note = note || $5
     where org_id = $1 and epoch = $2 and size = $3 and published_at = $4 and position($5 in note) = 0`,
    [scope.org_id, epoch, size, published_at, line],
  )
}

/** Holds the log, which then takes no entries in any process, or releases it with null. */
export async function setHeld(scope: Scope, tx: Transaction, reason: string | null): Promise<void> {
  await tx.query('update org_log set held_reason = $2 where org_id = $1 and held_reason is distinct from $2', [
    scope.org_id,
    reason,
  ])
}

/** True if a log takes no entries. */
export async function isAnyHeldUnscoped(tx: Transaction): Promise<boolean> {
  const [row] = await tx.query<{ is_held: boolean }>(
    'select exists (select from org_log where held_reason is not null) as is_held',
  )
  return row?.is_held === true
}

/** Stores the epoch of the log. The log must be locked. */
export async function setEpoch(scope: Scope, tx: Transaction, epoch: number): Promise<void> {
  await tx.query('update org_log set epoch = $2 where org_id = $1', [scope.org_id, epoch])
}
