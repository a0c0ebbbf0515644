// Publishing a checkpoint: what is new in a log is read again and hashed again, and only then signed for (docs/design/log.md §5).
import { consistencyRanges, emptyTree, Frontier, type Hash, leafHash, type Range, type Subtree } from '@svc/proof'
import { type Database, type Transaction, withSnapshot, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { ForkRefused, type LogSigner, notAsSigned } from './signer.js'
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

/** Records read at once: a page takes some milliseconds, and an embedded database does nothing else meanwhile. */
const pageSize = 500
/** Entries that one checkpoint adds at most, so that a long backlog is signed for bit by bit. */
const mostAdded = 20_000

export interface Made {
  readonly checkpoint: StoredCheckpoint
  /** False when there are more entries than one checkpoint adds. */
  readonly is_last: boolean
}

/** `<host>/org/<org_id>/<n>`: names one log in its nth incarnation. */
export function originOf(log_host: string, org_id: string, incarnation: number): string {
  return `${log_host}/org/${org_id}/${incarnation}`
}

/**
 * Publishes a checkpoint of the log as it is now, or of its next 20,000 entries. Throws ForkRefused when what is stored
 * cannot be signed for: an entry that is gone or altered, or a log that is not how the signed one went on.
 */
export async function publishCheckpoint(publishing: Publishing, scope: Scope): Promise<Made> {
  const { db, signer, clock } = publishing
  const { progress, origin, signed } = await signable(publishing, scope)
  // What was signed and never published, because the process ended between the two, is published first.
  const most = Math.min(progress.size, progress.checkpoint_size + mostAdded)
  const size = Math.max(most, signed?.size ?? 0)
  const { tiles, root } = await grow(publishing, scope, progress, size)
  return withTransaction(db, scope, async (tx) => {
    await insertTiles(scope, tx, tiles)
    const proof = signed === null ? [] : await proofSince(scope, tx, signed.size, size)
    const note = signer.sign({ origin, size, root }, proof)
    const made = { incarnation: progress.incarnation, size, root: hex(root), note }
    const now = clock()
    await insertCheckpoint(scope, tx, now, made)
    return { checkpoint: { ...made, published_at: new Date(now).toISOString() }, is_last: size >= progress.size }
  })
}

/**
 * Where the log and its signer are. Throws ForkRefused when they contradict each other: a backup was restored, or somebody
 * wrote to the database.
 */
async function signable({ db, signer, log_host }: Publishing, scope: Scope) {
  const progress = await withSnapshot(db, scope, (tx) => readProgress(scope, tx))
  const origin = originOf(log_host, scope.org_id, progress.incarnation)
  if (progress.incarnation !== signer.incarnationOf(scope.org_id))
    throw new ForkRefused(`the log claims incarnation ${progress.incarnation}, which nobody has begun`)
  const signed = signer.last(origin)
  if (signed === null && progress.has_own)
    throw new ForkRefused(`checkpoints of ${origin} were published, and the signer remembers none: put its folder back`)
  if (signed !== null && signed.size > progress.size)
    throw new ForkRefused(`the log is shorter than the ${signed.size} entries that were signed for`)
  // Whoever can write the database could have it begin beyond what has been read.
  if (signed !== null && signed.size < progress.checkpoint_size)
    throw new ForkRefused(`the log claims a checkpoint beyond the ${signed.size} entries that were signed for`)
  return { progress, origin, signed }
}

/** Compares a stored log with what was signed last, without reading its records. Throws ForkRefused. */
export async function refuseRestored(publishing: Publishing, scope: Scope): Promise<void> {
  const { signed } = await signable(publishing, scope)
  if (signed === null || signed.size === 0) return
  const [root = emptyTree] = await withSnapshot(publishing.db, scope, (tx) =>
    hashesOf(scope, tx, [{ from: 0, to: signed.size }]),
  ).catch(asFork)
  if (hex(root) !== signed.root) throw notAsSigned(signed.size)
}

function proofSince(scope: Scope, tx: Transaction, first: number, second: number): Promise<Hash[]> {
  return hashesOf(scope, tx, consistencyRanges(first, second))
}

/** The tree from the last checkpoint to `size`, out of records that were hashed again. */
async function grow({ db }: Publishing, scope: Scope, progress: LogProgress, size: number) {
  const { checkpoint_size, checkpoint_root } = progress
  const frontier = await withSnapshot(
    db,
    scope,
    async (tx) => new Frontier(checkpoint_size, await frontierOf(scope, tx, checkpoint_size)),
  ).catch(asFork)
  if (hex(frontier.root()) !== checkpoint_root)
    throw new ForkRefused(`the first ${checkpoint_size} leaves are not those of the last checkpoint`)
  const tiles: Tile[] = []
  const keep = (subtree: Subtree, hash: Hash) => {
    if (subtree.level > 0 && subtree.level % tileHeight === 0) tiles.push({ ...subtree, hash })
  }
  while (frontier.size < size) {
    const page = { from: frontier.size, to: Math.min(size, frontier.size + pageSize) }
    const records = await withSnapshot(db, scope, (tx) => readRecords(scope, tx, page))
    refuseAltered(page, records)
    for (const { leaf_hash } of records) frontier.add(Buffer.from(leaf_hash, 'hex'), keep)
  }
  return { tiles, root: frontier.root() }
}

/** INVARIANT (signed means read): nothing is signed for that was not there, in order, and hashing to its leaf. */
function refuseAltered({ from, to }: Range, records: readonly LeafText[]): void {
  for (let index = from; index < to; index++) {
    const stored = records[index - from]
    if (stored === undefined || stored.log_index !== index) throw new ForkRefused(`leaf ${index} is missing`)
    if (stored.record === null) throw new ForkRefused(`the entry of leaf ${index} is missing`)
    if (leafHash(stored.record) !== stored.leaf_hash)
      throw new ForkRefused(`the entry of leaf ${index} is not what its hash says`)
  }
}

/** A node of the tree that is gone has been removed: nothing here removes any. */
function asFork(error: unknown): never {
  if (error instanceof TreeError) throw new ForkRefused(error.message)
  throw error
}

function hex(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}
