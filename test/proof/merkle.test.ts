// The Merkle tree compared with published vectors and with the definition of RFC 9162.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  consistencyRanges,
  emptyTree,
  Frontier,
  type Hash,
  inclusionRanges,
  joined,
  nodeHash,
  type Range,
  subtreesOf,
  verifyConsistency,
  verifyInclusion,
} from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharedData } from '../support/server/shared.js'

const leafOf = (index: number): Hash => createHash('sha256').update('\0').update(`leaf ${index}`).digest()

/** MTH of RFC 9162 §2.1.1. */
function rootOf({ from, to }: Range): Hash {
  const size = to - from
  if (size === 0) return emptyTree
  if (size === 1) return leafOf(from)
  const middle = from + 2 ** Math.ceil(Math.log2(size) - 1)
  return nodeHash(rootOf({ from, to: middle }), rootOf({ from: middle, to }))
}

/** The hash of a range from its full subtrees, as a store computes it. */
function hashOf(range: Range): Hash {
  return joined(
    subtreesOf(range).map(({ level, index }) => rootOf({ from: index * 2 ** level, to: (index + 1) * 2 ** level })),
  )
}

const all = (size: number): Range => ({ from: 0, to: size })

describe('a tree', () => {
  it('has the root of its definition at every size', () => {
    const frontier = new Frontier(0, [])
    expect(frontier.root()).toEqual(emptyTree)
    for (let size = 1; size <= 130; size++) {
      frontier.add(leafOf(size - 1))
      expect(frontier.root()).toEqual(rootOf(all(size)))
      expect(hashOf(all(size))).toEqual(rootOf(all(size)))
    }
  })

  it('continues from its full subtrees, and reports each subtree that becomes full', () => {
    for (const size of [0, 1, 6, 7, 8, 21]) {
      const hashes = subtreesOf(all(size)).map(({ level, index }) =>
        rootOf({ from: index * 2 ** level, to: (index + 1) * 2 ** level }),
      )
      const frontier = new Frontier(size, hashes)
      const reported = new Map<string, Hash>()
      for (let index = size; index < size + 40; index++)
        frontier.add(leafOf(index), (subtree, hash) => reported.set(`${subtree.level}/${subtree.index}`, hash))
      expect(frontier.root()).toEqual(rootOf(all(size + 40)))
      for (const [name, hash] of reported) {
        const [level = 0, index = 0] = name.split('/').map(Number)
        expect(hash).toEqual(rootOf({ from: index * 2 ** level, to: (index + 1) * 2 ** level }))
      }
    }
    expect(() => new Frontier(3, [leafOf(0)])).toThrow(RangeError)
  })
})

describe('proofs', () => {
  it('show every leaf of every tree, and no other leaf, index, size or root', () => {
    for (let size = 1; size <= 40; size++)
      for (let index = 0; index < size; index++) {
        const proof = inclusionRanges(index, size).map(hashOf)
        const root = rootOf(all(size))
        expect(verifyInclusion(leafOf(index), index, size, proof, root)).toBe(true)
        expect(verifyInclusion(leafOf(index + 1), index, size, proof, root)).toBe(false)
        expect(verifyInclusion(leafOf(index), (index + 1) % size, size, proof, root)).toBe(size === 1)
        expect(verifyInclusion(leafOf(index), index, size, [...proof, root], root)).toBe(false)
        expect(verifyInclusion(leafOf(index), index, size, proof, rootOf(all(size + 1)))).toBe(false)
      }
  })

  it('show that a tree is the beginning of a later one, and that no other tree is', () => {
    for (let second = 1; second <= 40; second++)
      for (let first = 1; first <= second; first++) {
        const proof = consistencyRanges(first, second).map(hashOf)
        const [old, now] = [rootOf(all(first)), rootOf(all(second))]
        expect(verifyConsistency(first, second, proof, old, now)).toBe(true)
        expect(verifyConsistency(first, second, proof, leafOf(99), now)).toBe(false)
        expect(verifyConsistency(first, second, proof, old, leafOf(99))).toBe(false)
        expect(verifyConsistency(first, second, [...proof, old], old, now)).toBe(false)
      }
  })

  it('are rejected with any change', () => {
    const size = fc.integer({ min: 2, max: 200 })
    fc.assert(
      fc.property(size, size, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (a, b, node, byte, flip) => {
        const [first, second] = [Math.min(a, b), Math.max(a, b) + 1]
        const [old, now] = [rootOf(all(first)), rootOf(all(second))]
        const changed = (proof: readonly Hash[]) =>
          proof.map((hash, index) => (index === node % proof.length ? withByte(hash, byte % 32, flip) : hash))
        const inclusion = inclusionRanges(first, second).map(hashOf)
        expect(verifyInclusion(leafOf(first), first, second, changed(inclusion), now)).toBe(false)
        const consistency = consistencyRanges(first, second).map(hashOf)
        expect(verifyConsistency(first, second, changed(consistency), old, now)).toBe(false)
      }),
    )
  })

  it('are not made for impossible sizes', () => {
    expect(() => inclusionRanges(3, 3)).toThrow(RangeError)
    expect(() => consistencyRanges(0, 3)).toThrow(RangeError)
    expect(() => consistencyRanges(4, 3)).toThrow(RangeError)
  })

  it('work for more than 2^32 leaves', () => {
    const size = 2 ** 40 + 5
    const index = 2 ** 39 + 1
    // Every subtree gets an arbitrary hash; the proof is valid for the root that they make.
    const named = ({ from, to }: Range) => createHash('sha256').update(`${from} ${to}`).digest()
    const ranges = inclusionRanges(index, size)
    let hash = leafOf(index)
    for (const range of ranges)
      hash = Buffer.from(range.from > index ? nodeHash(hash, named(range)) : nodeHash(named(range), hash))
    expect(verifyInclusion(leafOf(index), index, size, ranges.map(named), hash)).toBe(true)
  })
})

function withByte(hash: Hash, at: number, flip: number): Hash {
  const changed = Uint8Array.from(hash)
  changed[at] = (changed[at] ?? 0) ^ flip
  return changed
}

const folder = sharedData('merkle/testdata')

describe.skipIf(folder === null)('196 published vectors', () => {
  const vectors = readdirSync(folder ?? '.', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )

  it('are complete', () => expect(vectors).toHaveLength(196))

  it.each(vectors)('%s', (name) => {
    const vector = JSON.parse(readFileSync(join(folder ?? '.', name), 'utf8'))
    const bytes = (text: string | null | undefined): Hash => Buffer.from(text ?? '', 'base64')
    const proof = (vector.proof ?? []).map(bytes)
    const holds = name.startsWith('inclusion')
      ? verifyInclusion(bytes(vector.leafHash), vector.leafIdx, vector.treeSize, proof, bytes(vector.root))
      : verifyConsistency(vector.size1, vector.size2, proof, bytes(vector.root1), bytes(vector.root2))
    expect(holds).toBe(!vector.wantErr)
  })
})
