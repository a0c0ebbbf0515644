// Whether leaves are in the tree that was signed: every block they stand in is hashed again, up to the root.
import type { Hash } from '@svc/proof'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import type { StoredCheckpoint } from './checkpoints.js'
import { blockRoot, hashesOf, readBlocks, tileHeight } from './tree.js'

/** Nodes that share a parent which is kept. */
const blockSize = 2 ** tileHeight
/** Blocks read at once: some megabytes. */
const blocksAtOnce = 40

/**
 * The first of these leaves (ascending, all of them within the checkpoint) that the signed root does not hold; null when
 * it holds them all.
 */
export async function firstNotSigned(
  scope: Scope,
  tx: Transaction,
  leaves: readonly number[],
  { size, root }: StoredCheckpoint,
): Promise<number | null> {
  const [first] = leaves
  if (first === undefined) return null
  const [found] = await hashesOf(scope, tx, [{ from: 0, to: size }]).catch(() => [])
  if (found === undefined || Buffer.from(found).toString('hex') !== root) return first
  let nodes = leaves
  for (let level = 0; nodes.length > 0; level++) {
    const width = blockSize ** level
    // What has no full parent stands in the root itself, which has been computed from it.
    const parents = distinct(nodes.map((node) => Math.floor(node / blockSize))).filter(
      (parent) => (parent + 1) * width * blockSize <= size,
    )
    const wrong = await firstWrong(scope, tx, level, parents)
    if (wrong !== null) {
      const [from, to] = [wrong * width * blockSize, (wrong + 1) * width * blockSize]
      return leaves.find((leaf) => leaf >= from && leaf < to) ?? first
    }
    nodes = parents
  }
  return null
}

async function firstWrong(scope: Scope, tx: Transaction, level: number, parents: readonly number[]) {
  for (let at = 0; at < parents.length; at += blocksAtOnce) {
    const asked = parents.slice(at, at + blocksAtOnce)
    const { children, kept } = await readBlocks(scope, tx, level, asked)
    for (const parent of asked) {
      const hashes = children.get(parent) ?? []
      const own = kept.get(parent)
      if (own === undefined || hashes.length !== blockSize || !same(blockRoot(hashes), own)) return parent
    }
  }
  return null
}

function distinct(numbers: readonly number[]): number[] {
  return [...new Set(numbers)]
}

function same(a: Hash, b: Hash): boolean {
  return Buffer.compare(a, b) === 0
}
