// Publishes a checkpoint: new entries are read and hashed again before they are signed (docs/design/log.md §5).

import {
  consistencyRanges,
  emptyTree,
  Frontier,
  type Hash,
  hexOf,
  leafHash,
  type Range,
  type Subtree,
} from '@svc/proof'
import { isoTime } from '@svc/schemas'
import { type Database, type Transaction, withSnapshot, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { originOf } from './origin.js'
import { changedSince, ForkRejected, LogBehind, type LogSigner } from './signer.js'
import { insertCheckpoint, type LogProgress, readProgress, type StoredCheckpoint } from './store/checkpoints.js'
import {
  frontierOf,
  hashesOf,
  insertTiles,
  type LeafText,
  readRecords,
  type Tile,
  TreeError,
  tileHeight,
} from './store/tree.js'

export interface Publishing {
  readonly db: Database
  readonly signer: LogSigner
  readonly clock: () => number
  readonly log_host: string
}

/** Records per page: a page takes some milliseconds, and an embedded database does nothing else meanwhile. */
const pageSize = 500
/** The maximum number of entries that a checkpoint adds: a long backlog takes several. */
const maxAddedEntries = 20_000

interface PublishedCheckpoint {
  readonly checkpoint: StoredCheckpoint
  /** False when there are more entries than one checkpoint adds. */
  readonly is_last: boolean
}

/**
 * Publishes a checkpoint of the log as it is now, or of its next 20,000 entries. Throws ForkRejected when the log cannot be
 * signed: an entry is missing or altered, or the log does not continue the signed one.
 */
export async function publishCheckpoint(publishing: Publishing, scope: Scope): Promise<PublishedCheckpoint> {
  const { db, signer, clock } = publishing
  const { progress, origin, signed } = await signable(publishing, scope)
  // A process that ended between signing and publishing leaves a signed size above the published one: it is published first.
  const next = Math.min(progress.size, progress.checkpoint_size + maxAddedEntries)
  const size = Math.max(next, signed?.size ?? 0)
  const { tiles, root } = await grow(publishing, scope, progress, size)
  return withTransaction(db, scope, async (tx) => {
    await insertTiles(scope, tx, tiles)
    const proof = signed === null ? [] : await proofSince(scope, tx, signed.size, size)
    const note = signer.sign({ origin, size, root }, proof)
    const checkpoint = { epoch: progress.epoch, size, root: hexOf(root), note }
    const now = clock()
    await insertCheckpoint(scope, tx, now, checkpoint)
    return { checkpoint: { ...checkpoint, published_at: isoTime(now) }, is_last: size >= progress.size }
  })
}

/**
 * The states of the log and of its signer. Throws ForkRejected when they contradict each other: a backup was restored, or
 * the database was changed from outside.
 */
async function signable({ db, signer, log_host }: Publishing, scope: Scope) {
  const progress = await withSnapshot(db, scope, (tx) => readProgress(scope, tx))
  const epoch = progress.epoch
  const origin = originOf(log_host, scope.org_id, epoch)
  const begun = signer.epochOf(scope.org_id)
  if (epoch < begun) throw new LogBehind(`it is of epoch ${epoch}, and epoch ${begun} was signed`)
  if (epoch > begun) throw new ForkRejected(`the database claims epoch ${epoch}, which \`new-epoch\` has not begun`)
  const signed = signer.last(origin)
  if (signed === null && progress.has_own)
    throw new ForkRejected(
      `checkpoints of ${origin} were published, but \`SVC_LOG_KEY_DIR\` records none: restore that folder`,
    )
  if (signed !== null && signed.size > progress.size)
    throw new LogBehind(`the log is shorter than the ${signed.size} signed entries`)
  // Otherwise a change of the database could have the signer skip entries that it has not read.
  if (signed !== null && signed.size < progress.checkpoint_size)
    throw new ForkRejected(
      `the database claims a checkpoint beyond the ${signed.size} signed entries: processes that sign this log share one folder \`SVC_LOG_KEY_DIR\`, not copies of it`,
    )
  return { progress, origin, signed }
}

/** Compares a stored log with the last signed checkpoint, without reading its records. Throws ForkRejected. */
export async function assertContinued(publishing: Publishing, scope: Scope): Promise<void> {
  const { signed } = await signable(publishing, scope)
  if (signed === null || signed.size === 0) return
  const [root = emptyTree] = await withSnapshot(publishing.db, scope, (tx) =>
    hashesOf(scope, tx, [{ from: 0, to: signed.size }]),
  ).catch(asFork)
  if (hexOf(root) !== signed.root) throw changedSince(signed.size)
}

function proofSince(scope: Scope, tx: Transaction, first: number, second: number): Promise<Hash[]> {
  return hashesOf(scope, tx, consistencyRanges(first, second))
}

/** The tree from the last checkpoint to `size`, from records that are hashed again. */
async function grow({ db }: Publishing, scope: Scope, progress: LogProgress, size: number) {
  const { checkpoint_size, checkpoint_root } = progress
  const frontier = await withSnapshot(
    db,
    scope,
    async (tx) => new Frontier(checkpoint_size, await frontierOf(scope, tx, checkpoint_size)),
  ).catch(asFork)
  if (hexOf(frontier.root()) !== checkpoint_root)
    throw new ForkRejected(`the first ${checkpoint_size} leaves do not have the root of the last checkpoint`)
  const tiles: Tile[] = []
  const keep = (subtree: Subtree, hash: Hash) => {
    if (subtree.level > 0 && subtree.level % tileHeight === 0) tiles.push({ ...subtree, hash })
  }
  while (frontier.size < size) {
    const page = { from: frontier.size, to: Math.min(size, frontier.size + pageSize) }
    const records = await withSnapshot(db, scope, (tx) => readRecords(scope, tx, page))
    assertUnaltered(page, records)
    for (const { leaf_hash } of records) frontier.add(Buffer.from(leaf_hash, 'hex'), keep)
  }
  return { tiles, root: frontier.root() }
}

/** INVARIANT (signed means read): every signed record is present, in order, and hashes to its leaf. */
function assertUnaltered({ from, to }: Range, records: readonly LeafText[]): void {
  for (let index = from; index < to; index++) {
    const stored = records[index - from]
    if (stored === undefined || stored.log_index !== index) throw new ForkRejected(`leaf ${index} is missing`)
    if (stored.record === null) throw new ForkRejected(`the record of leaf ${index} is missing`)
    if (leafHash(stored.record) !== stored.leaf_hash)
      throw new ForkRejected(`the record of leaf ${index} does not match its hash`)
  }
}

/** The platform deletes no nodes of the tree: a missing one was deleted from outside. */
function asFork(error: unknown): never {
  if (error instanceof TreeError) throw new ForkRejected(error.message)
  throw error
}
