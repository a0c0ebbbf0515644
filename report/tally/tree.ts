// The tree of the log up to the cut-off, computed from the leaves of the period and the subtrees beside it.
import { Frontier, type Hash, hexOf, leafHash, subtreesOf } from '@svc/proof'
import type { ReportWork } from '../content/messages.js'
import type { Problem } from './problems.js'

export interface TreeCheck {
  /** Adds the leaf at the next log index; `record` is null when it was deleted. Returns whether the record is as hashed. */
  readonly add: (log_index: number, leaf_hash: string | null, record: string | null) => boolean
  /** A published root of a size that the tree has not yet reached. */
  readonly expect: (size: number, root: string) => void
  /** Compares the tree with the signed root; numbers of blocks to compare with the stored ones when it differs. */
  readonly finish: () => readonly number[]
  readonly compareBlock: (index: number, hash: string) => void
  readonly rehashed: () => number
}

/** Levels between the stored hashes of the tree. */
const blockLevel = 8
/** The hash in place of a missing one. */
const missing: Hash = Buffer.alloc(32)

export function createTreeCheck({ left, right, scope, checkpoint }: ReportWork, report: Problem): TreeCheck {
  const { first, end, cut_off } = scope
  const before = subtreesOf({ from: 0, to: first })
  const after = subtreesOf({ from: end, to: cut_off })
  const tree = new Frontier(
    first,
    before.map((_, at) => hashIn(left[at] ?? null)),
  )
  const published = new Map<number, string[]>()
  const blocks = new Map<number, string>()
  let rehashed = 0
  if ([...left, ...right].includes(null))
    report('node_missing', null, 'hashes of the tree outside the period are missing from the database')
  return {
    rehashed: () => rehashed,
    add: (log_index, leaf_hash, record) => {
      const own = record === null ? null : leafHash(record)
      const isAsHashed = own !== null && own === leaf_hash
      if (isAsHashed) rehashed += 1
      if (leaf_hash === null) report('leaf_missing', log_index, `entry ${log_index} has no leaf`)
      else if (own !== null && !isAsHashed)
        report('record_altered', log_index, `the record of entry ${log_index} does not match its hash`)
      tree.add(hashIn(leaf_hash), ({ level, index }, hash) => {
        if (level === blockLevel) blocks.set(index, hexOf(hash))
      })
      const { size } = tree
      for (const root of published.get(size) ?? [])
        if (root !== hexOf(tree.root()))
          report('checkpoint_mismatch', null, `the entries up to ${size} differ from the checkpoint of that size`)
      published.delete(size)
      return isAsHashed
    },
    expect: (size, root) => published.set(size, [...(published.get(size) ?? []), root]),
    finish: () => {
      for (const [at, { level }] of after.entries()) tree.addSubtree(level, hashIn(right[at] ?? null))
      if (tree.size === cut_off && hexOf(tree.root()) === checkpoint.root) return []
      report('root_mismatch', null, `the entries up to ${cut_off} differ from the signed checkpoint of that size`)
      return [...blocks.keys()]
    },
    compareBlock: (index, hash) => {
      if (blocks.get(index) === hash) return
      const from = index * 2 ** blockLevel
      report('entries_altered', from, `entries ${from} to ${from + 2 ** blockLevel - 1} differ from the signed tree`)
    },
  }
}

function hashIn(text: string | null): Hash {
  return text !== null && /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : missing
}
