// Reading a log again from its first leaf: each record is hashed, and the tree is made anew.
import { Frontier, type Hash, leafHash, type Range, type Subtree } from '@svc/proof'
import { PlatformError } from '../../errors.js'
import { type LeafText, type Tile, tileHeight } from './store/tree.js'

export interface Rereading {
  readonly size: () => number
  readonly root: () => string
  /** Takes the next leaves. Throws CONFLICT when one is missing: without it there is no tree. */
  readonly add: (page: Range, records: readonly LeafText[]) => void
  /** Roots of the tree at the wanted sizes it has reached, hex. */
  readonly roots: ReadonlyMap<number, string>
  readonly tiles: readonly Tile[]
  /** The first entry whose record is not what the leaf is the hash of, and what is wrong with it; null when all are. */
  readonly altered: () => Altered | null
}

export interface Altered {
  readonly log_index: number
  readonly problem: string
}

/** `wanted`: sizes whose roots are asked for; `isPruned`: whether a leaf in the log accounts for a record that is gone. */
export function rereading(wanted: ReadonlySet<number>, isPruned: (log_index: number) => boolean): Rereading {
  const frontier = new Frontier(0, [])
  const roots = new Map<number, string>()
  const tiles: Tile[] = []
  let altered: Altered | null = null
  const keep = (subtree: Subtree, hash: Hash) => {
    if (subtree.level > 0 && subtree.level % tileHeight === 0) tiles.push({ ...subtree, hash })
  }
  const check = ({ record, leaf_hash, log_index }: LeafText) => {
    if (record === null ? isPruned(log_index) : leafHash(record) === leaf_hash) return
    altered ??= {
      log_index,
      problem: `entry ${log_index} is ${record === null ? 'missing' : 'not what its hash says'}`,
    }
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

function hexOf(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}
