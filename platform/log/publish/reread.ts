// Reads a log again from its first leaf: hashes each record and computes the tree anew.
import { Frontier, type Hash, hexOf, leafHash, type Range, type Subtree } from '@svc/proof'
import { PlatformError } from '../../errors.js'
import { type LeafText, type Tile, tileHeight } from './store/tree.js'

export interface Rereading {
  readonly size: () => number
  readonly root: () => string
  /** Adds the next leaves. Throws CONFLICT when one is missing: the tree needs every leaf. */
  readonly add: (page: Range, records: readonly LeafText[]) => void
  /** Roots of the tree at the wanted sizes, as far as it has grown; hex. */
  readonly roots: ReadonlyMap<number, string>
  readonly tiles: readonly Tile[]
  /** The first record that does not match its leaf, with the reason; null when all match. */
  readonly altered: () => Altered | null
}

export interface Altered {
  readonly log_index: number
  readonly problem: string
}

/** `wanted`: sizes whose roots are needed; `isPruned`: whether a leaf of the log authorizes the deletion of a record. */
export function startRereading(wanted: ReadonlySet<number>, isPruned: (log_index: number) => boolean): Rereading {
  const frontier = new Frontier(0, [])
  const roots = new Map<number, string>()
  const tiles: Tile[] = []
  let altered: Altered | null = null
  const keep = (subtree: Subtree, hash: Hash) => {
    if (subtree.level > 0 && subtree.level % tileHeight === 0) tiles.push({ ...subtree, hash })
  }
  const check = ({ record, leaf_hash, log_index }: LeafText) => {
    if (record === null ? isPruned(log_index) : leafHash(record) === leaf_hash) return
    const problem = record === null ? 'is missing' : 'does not match its hash'
    altered ??= { log_index, problem: `entry ${log_index} ${problem}` }
  }
  return {
    size: () => frontier.size,
    root: () => hexOf(frontier.root()),
    add: ({ from, to }, records) => {
      for (let index = from; index < to; index++) {
        const leaf = records[index - from]
        if (leaf === undefined || leaf.log_index !== index || !/^[0-9a-f]{64}$/.test(leaf.leaf_hash))
          throw new PlatformError(
            'CONFLICT',
            `leaf ${index} is missing: restore a backup of the database that holds it`,
          )
        check(leaf)
        frontier.add(Buffer.from(leaf.leaf_hash, 'hex'), keep)
        if (wanted.has(frontier.size)) roots.set(frontier.size, hexOf(frontier.root()))
      }
    },
    roots,
    tiles,
    altered: () => altered,
  }
}
