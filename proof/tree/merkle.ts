// The Merkle tree over all leaves of a log (RFC 9162 §2.1, identical to RFC 6962).
import { createHash } from 'node:crypto'
import { isCount } from '../json/checks.js'

/** 32 bytes: a leaf, an inner node or a root. */
export type Hash = Uint8Array

/** SHA-256 of the empty string: the root of a tree without leaves. */
export const emptyTree: Hash = createHash('sha256').digest()

const nodePrefix = Buffer.of(1)

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Hash, right: Hash): Hash {
  return createHash('sha256').update(nodePrefix).update(left).update(right).digest()
}

/** Leaves from `from` to before `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A full subtree of 2^level leaves; `index` counts the subtrees of its level from the left. */
export interface Subtree {
  readonly level: number
  readonly index: number
}

/** The full subtrees of a range, widest first; the range must begin at a multiple of the widest. */
export function subtreesOf({ from, to }: Range): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = from; at < to; ) {
    let level = 0
    while (at + 2 ** (level + 1) <= to && at % 2 ** (level + 1) === 0) level += 1
    subtrees.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return subtrees
}

/** The root over the hashes of adjacent full subtrees, widest first; that of the empty tree for an empty list. */
export function joined(hashes: readonly Hash[]): Hash {
  return hashes.length === 0 ? emptyTree : hashes.reduceRight((right, left) => nodeHash(left, right))
}

/** A tree that grows at its right end; its state is the hashes of its full subtrees. */
export class Frontier {
  #size: number
  readonly #hashes: Hash[]

  /** `hashes`: one for each of `subtreesOf({from: 0, to: size})`. Throws RangeError for another number of hashes. */
  constructor(size: number, hashes: readonly Hash[]) {
    if (subtreesOf({ from: 0, to: size }).length !== hashes.length)
      throw new RangeError(`${hashes.length} subtrees do not make a tree of ${size} leaves`)
    this.#size = size
    this.#hashes = [...hashes]
  }

  get size(): number {
    return this.#size
  }

  /** Adds a leaf; calls `full` for every subtree that becomes full, the leaf itself included. */
  add(leaf: Hash, full?: (subtree: Subtree, hash: Hash) => void): void {
    this.addSubtree(0, leaf, full)
  }

  /** Adds 2^level leaves by the hash over them. Throws RangeError unless the size is a multiple of 2^level. */
  addSubtree(level: number, subtree: Hash, full?: (subtree: Subtree, hash: Hash) => void): void {
    const width = 2 ** level
    if (this.#size % width !== 0) throw new RangeError(`no subtree of ${width} leaves begins at ${this.#size}`)
    let hash = subtree
    let index = this.#size / width
    full?.({ level, index }, hash)
    for (let above = level + 1; index % 2 === 1; above++) {
      hash = nodeHash(this.#hashes.pop() as Hash, hash)
      index = (index - 1) / 2
      full?.({ level: above, index }, hash)
    }
    this.#hashes.push(hash)
    this.#size += width
  }

  root(): Hash {
    return joined(this.#hashes)
  }
}

/**
 * The ranges whose hashes, in order, prove that leaf `index` is in a tree of `size` (RFC 9162 §2.1.3.1). Throws RangeError
 * unless 0 ≤ index < size.
 */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!(index >= 0 && index < size)) throw new RangeError(`a tree of ${size} leaves has no leaf ${index}`)
  const ranges: Range[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + split(to - from)
    if (index < middle) {
      ranges.push({ from: middle, to })
      to = middle
    } else {
      ranges.push({ from, to: middle })
      from = middle
    }
  }
  return ranges.reverse()
}

/**
 * The ranges whose hashes, in order, prove that a tree of `first` leaves is the beginning of one of `second` leaves
 * (RFC 9162 §2.1.4.1). Throws RangeError unless 0 < first ≤ second.
 */
export function consistencyRanges(first: number, second: number): Range[] {
  if (!(first > 0 && first <= second))
    throw new RangeError(`a tree of ${second} leaves does not begin with one of ${first}`)
  const ranges: Range[] = []
  let [from, to] = [0, second]
  while (first !== to) {
    const middle = from + split(to - from)
    if (first <= middle) {
      ranges.push({ from: middle, to })
      to = middle
    } else {
      ranges.push({ from, to: middle })
      from = middle
    }
  }
  // A remaining range from 0 is the old tree, whose root the verifier has.
  if (from > 0) ranges.push({ from, to })
  return ranges.reverse()
}

/** The largest power of two below `size`. */
function split(size: number): number {
  let power = 1
  while (power * 2 < size) power *= 2
  return power
}

/** True if the proof shows that the leaf is at `index` of the tree with this root (RFC 9162 §2.1.3.2). */
export function verifyInclusion(leaf: Hash, index: number, size: number, proof: readonly Hash[], root: Hash): boolean {
  if (!isCount(index) || !isCount(size) || index >= size || !areHashes([leaf, ...proof])) return false
  let at = index
  let last = size - 1
  let hash = leaf
  for (const node of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(node, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else {
      hash = nodeHash(hash, node)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && same(hash, root)
}

/**
 * True if the proof shows that the tree with root `old` and `first` leaves is the beginning of the one with root `now` and
 * `second` leaves (RFC 9162 §2.1.4.2). False for an empty tree, which is the beginning of every tree.
 */
export function verifyConsistency(
  first: number,
  second: number,
  proof: readonly Hash[],
  old: Hash,
  now: Hash,
): boolean {
  if (!isCount(first) || !isCount(second) || first === 0 || first > second || !areHashes(proof)) return false
  if (first === second) return proof.length === 0 && same(old, now)
  let at = first - 1
  let last = second - 1
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  const [start, ...others] = at === 0 ? [old, ...proof] : proof
  if (start === undefined) return false
  let before = start
  let after = start
  for (const node of others) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      before = nodeHash(node, before)
      after = nodeHash(node, after)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else {
      after = nodeHash(after, node)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && same(before, old) && same(after, now)
}

/** The longest proof of a tree of 2^53 leaves: at most two hashes a level and the first one. */
const maxHashes = 109

function areHashes(hashes: readonly Hash[]): boolean {
  return hashes.length <= maxHashes && hashes.every((hash) => hash.length === 32)
}

/** Not `>> 1`, which truncates to 32 bits. */
function half(value: number): number {
  return Math.floor(value / 2)
}

function same(a: Hash, b: Hash): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}
