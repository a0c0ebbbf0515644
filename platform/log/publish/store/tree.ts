// The tree of a log: its leaves, its stored inner nodes (tiles), and the hash of any part of it.

import { type Hash, hexOf, joined, type Range, receivedAtOf, type Subtree, subtreesOf } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { insertRows } from '../../../db/sql.js'

/** Levels of the tree between two stored ones: a tile covers 2^8 leaves, a tile of the next level 2^8 tiles, and so on. */
export const tileHeight = 8

/** A part of the stored tree is missing. */
export class TreeError extends Error {
  readonly code = 'NODE_MISSING'
}

export interface Tile extends Subtree {
  readonly hash: Hash
}

/** Stores full subtrees whose level is a multiple of `tileHeight`. */
export async function insertTiles(scope: Scope, tx: Transaction, tiles: readonly Tile[]): Promise<void> {
  if (tiles.length === 0) return
  const columns = { org_id: 'text', level: 'smallint', index: 'bigint', hash: 'text' }
  await tx.query(
    `${insertRows('log_tiles', columns)} on conflict (org_id, level, index) do update set hash = excluded.hash`,
    [
      tiles.map(() => scope.org_id),
      tiles.map(({ level }) => level / tileHeight),
      tiles.map(({ index }) => index),
      tiles.map(({ hash }) => hexOf(hash)),
    ],
  )
}

/**
 * The hash of each range, computed from the stored nodes; a range must begin where a subtree of its size can. Throws
 * TreeError when a node is missing. The caller compares the hashes with the signed ones.
 */
export async function hashesOf(scope: Scope, tx: Transaction, ranges: readonly Range[]): Promise<Hash[]> {
  const parts = ranges.map(subtreesOf)
  const stored = await readNodes(scope, tx, parts.flat().map(nodesUnder))
  return parts.map((subtrees) =>
    joined(
      subtrees.map((subtree) => {
        const { level, from, to } = nodesUnder(subtree)
        return blockRoot(Array.from({ length: to - from }, (_, at) => nodeAt(stored, level, from + at)))
      }),
    ),
  )
}

/** The hashes of the full subtrees of a tree of `size`. */
export function frontierOf(scope: Scope, tx: Transaction, size: number): Promise<Hash[]> {
  const ranges = subtreesOf({ from: 0, to: size }).map(({ level, index }) => {
    return { from: index * 2 ** level, to: (index + 1) * 2 ** level }
  })
  return hashesOf(scope, tx, ranges)
}

/** Adjacent stored nodes: leaves at level 0, tiles above. */
interface Nodes extends Range {
  readonly level: number
}

/** The stored nodes that a subtree's hash is computed from: at most 2^7 of the next stored level at or below its own. */
function nodesUnder({ level, index }: Subtree): Nodes {
  const width = 2 ** (level % tileHeight)
  return { level: Math.floor(level / tileHeight), from: index * width, to: (index + 1) * width }
}

async function readNodes(scope: Scope, tx: Transaction, wanted: readonly Nodes[]): Promise<Map<string, Hash>> {
  const found = new Map<string, Hash>()
  for (const level of new Set(wanted.map((nodes) => nodes.level))) {
    const ranges = wanted.filter((nodes) => nodes.level === level)
    const rows = await tx.query<{ index: number; hash: string }>(level === 0 ? leavesIn : tilesIn, [
      scope.org_id,
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
      ...(level === 0 ? [] : [level]),
    ])
    for (const { index, hash } of rows) found.set(`${level} ${index}`, Buffer.from(hash, 'hex'))
  }
  return found
}

/**
 * The limit is the most nodes of a range (`readBlocks`). Without it the embedded database, which has no statistics, joins the
 * ranges with all leaves of the log: seconds for a million of them, at each checkpoint.
 */
const nodesIn = (columns: string, table: string, of: string) => `select n.index, n.hash
  from unnest($2::bigint[], $3::bigint[]) as r(start, stop) cross join lateral (
    select ${columns} from ${table} where ${of} order by 1 limit ${2 ** tileHeight}) as n(index, hash)`
const leavesIn = nodesIn(
  'log_index, leaf_hash',
  'log_leaves',
  'org_id = $1 and log_index >= r.start and log_index < r.stop',
)
const tilesIn = nodesIn(
  'index, hash',
  'log_tiles',
  'org_id = $1 and level = $4 and index >= r.start and index < r.stop',
)

function nodeAt(stored: ReadonlyMap<string, Hash>, level: number, index: number): Hash {
  const hash = stored.get(`${level} ${index}`)
  if (hash === undefined) throw new TreeError(`the tree has no node ${index} at level ${level * tileHeight}`)
  return hash
}

/** The root over a power of two of nodes. */
export function blockRoot(nodes: readonly Hash[]): Hash {
  let row = nodes
  while (row.length > 1) {
    row = Array.from({ length: row.length / 2 }, (_, at) => joined(row.slice(2 * at, 2 * at + 2)))
  }
  return row[0] as Hash
}

/** The nodes of a stored level by block of 256, and the stored hash of each block. */
export async function readBlocks(scope: Scope, tx: Transaction, level: number, blocks: readonly number[]) {
  const width = 2 ** tileHeight
  const wanted = blocks.map((block) => ({ level, from: block * width, to: (block + 1) * width }))
  const nodes = await readNodes(scope, tx, wanted)
  const above = await readNodes(
    scope,
    tx,
    blocks.map((block) => ({ level: level + 1, from: block, to: block + 1 })),
  )
  const children = new Map(
    wanted.map(({ from, to }, at) => [
      blocks[at],
      Array.from({ length: to - from }, (_, index) => nodes.get(`${level} ${from + index}`)).filter(
        (hash) => hash !== undefined,
      ),
    ]),
  )
  const stored = new Map(blocks.map((block) => [block, above.get(`${level + 1} ${block}`)]))
  return { children, stored }
}

export interface LeafText {
  readonly log_index: number
  readonly leaf_hash: string
  /** Null when it was deleted. */
  readonly record: string | null
}

/** The leaves of a range, in order, with their records. */
export async function readRecords(scope: Scope, tx: Transaction, { from, to }: Range): Promise<LeafText[]> {
  return tx.query<LeafText>(
    `select l.log_index, l.leaf_hash, coalesce(e.record, r.record) as record
     from log_leaves l
     left join log_records r on r.org_id = l.org_id and r.log_index = l.log_index
     left join log_entries e on e.org_id = l.org_id and e.log_index = l.log_index and e.received_at = l.received_at
     where l.org_id = $1 and l.log_index >= $2 and l.log_index < $3 order by l.log_index`,
    [scope.org_id, from, to],
  )
}

/** A leaf and its task; `task_id` is null when the leaf is not a step. */
export interface TaskLeaf {
  readonly log_index: number
  readonly leaf_hash: string
  readonly task_id: string | null
}

/** Finds a leaf by the id or the log index of its entry; null for an unknown one. */
export async function findLeaf(
  scope: Scope,
  tx: Transaction,
  wanted: { readonly log_id: string } | { readonly log_index: number },
): Promise<TaskLeaf | null> {
  const select = 'select l.log_index, l.leaf_hash, e.task_id'
  if ('log_index' in wanted) {
    const [row] = await tx.query<TaskLeaf>(
      `${select} from log_leaves l left join log_entries e
         on e.org_id = l.org_id and e.log_index = l.log_index and e.received_at = l.received_at
       where l.org_id = $1 and l.log_index = $2`,
      [scope.org_id, wanted.log_index],
    )
    return row ?? null
  }
  const received_at = receivedAtOf(wanted.log_id)
  if (received_at === null) return null
  const [row] = await tx.query<TaskLeaf>(
    `${select} from log_entries e join log_leaves l on l.org_id = e.org_id and l.log_index = e.log_index
     where e.org_id = $1 and e.log_id = $2 and e.received_at = $3`,
    [scope.org_id, wanted.log_id, isoTime(received_at)],
  )
  return row ?? null
}
