// Checks that leaves are in the signed tree: hashes their blocks again, up to the root.
import { type Hash, hexOf } from '@svc/proof'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import type { StoredCheckpoint } from './checkpoints.js'
import { blockRoot, hashesOf, readBlocks, tileHeight } from './tree.js'

/** Nodes that share a stored parent. */
const blockSize = 2 ** tileHeight
/** Blocks per read: some megabytes. */
const blocksPerRead = 40

/**
 * The first of these leaves (ascending, all of them within the checkpoint) that the signed root does not include; null
 * when it includes all.
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
  if (found === undefined || hexOf(found) !== root) return first
  let nodes = leaves
  for (let level = 0; nodes.length > 0; level++) {
    const width = blockSize ** level
    // A node without a full parent is part of the root, which was computed from it.
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
  for (let at = 0; at < parents.length; at += blocksPerRead) {
    const blocks = parents.slice(at, at + blocksPerRead)
    const { children, stored } = await readBlocks(scope, tx, level, blocks)
    for (const parent of blocks) {
      const hashes = children.get(parent) ?? []
      const own = stored.get(parent)
      if (own === undefined || hashes.length !== blockSize || !isSame(blockRoot(hashes), own)) return parent
    }
  }
  return null
}

function distinct(numbers: readonly number[]): number[] {
  return [...new Set(numbers)]
}

function isSame(a: Hash, b: Hash): boolean {
  return Buffer.compare(a, b) === 0
}
