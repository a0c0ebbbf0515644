// Sets of bits, and the moves of a whole set at once. Most bits lead to the next bit, and many lead to the same others
// (`x{0,500}key`: every x leads to k), so that a set moves with one shift and a few groups.
import { type Boundary, MATCH, type Program, START } from './program.js'

/** 32 bits a word. */
export type Bits = Uint32Array

/** The moves of sets that read no character, at one kind of boundary. */
export type Moves = {
  /** The bits that lead to the next bit. */
  readonly chain: Bits
  /** A set with one of the bits of `from`, at word `at`, gets the bits of `into`, at word `to`. */
  readonly groups: readonly { readonly at: number; readonly from: Bits; readonly to: number; readonly into: Bits }[]
  /** The number of words read for one character. */
  readonly work: number
}

// Bits reached from all bits together: 1 ms. Patterns in use stay below 2,000.
const maxReached = 5000

/**
 * The moves of a program. A search can begin at every character, so that its START stays. Throws RangeError when the bits
 * lead to too many others.
 */
export function compileMoves(program: Program, boundary: Boundary, anchored: boolean): Moves {
  const width = Math.ceil(program.size / 32)
  const chain = new Uint32Array(width)
  const members = new Map<string, { from: number[]; into: number[] }>()
  let total = 0
  for (let bit = 0; bit < program.size; bit++) {
    if (bit === MATCH) continue
    const reached = program.follow(bit, boundary)
    total += reached.length
    if (total > maxReached) throw new RangeError(`its parts follow each other in more than ${maxReached} ways`)
    if (bit === START && !anchored) reached.push(START)
    if (reached.includes(bit + 1)) add(chain, bit)
    const others = reached.filter((one) => one !== bit + 1).sort((a, b) => a - b)
    if (others.length === 0) continue
    const key = others.join()
    const same = members.get(key)
    if (same === undefined) members.set(key, { from: [bit], into: others })
    else same.from.push(bit)
  }
  const groups = [...members.values()].map((group) => {
    const from = pack(group.from)
    const into = pack(group.into)
    return { at: from.at, from: from.words, to: into.at, into: into.words }
  })
  const work = groups.reduce((sum, { from, into }) => sum + from.length + into.length + 2, width)
  return { chain, groups, work }
}

/** Writes the bits that `set` reaches to `reached`; true when MATCH is one of them. */
export function move({ chain, groups }: Moves, set: Bits, reached: Bits): boolean {
  let carry = 0
  for (let word = 0; word < set.length; word++) {
    const on = (set[word] ?? 0) & (chain[word] ?? 0)
    reached[word] = (on << 1) | carry
    carry = on >>> 31
  }
  for (const { at, from, to, into } of groups) {
    let found = 0
    for (let word = 0; word < from.length && found === 0; word++) found = (set[at + word] ?? 0) & (from[word] ?? 0)
    if (found === 0) continue
    for (let word = 0; word < into.length; word++) reached[to + word] = (reached[to + word] ?? 0) | (into[word] ?? 0)
  }
  return ((reached[0] ?? 0) & (1 << MATCH)) !== 0
}

/** Adds one bit. */
export function add(set: Bits, bit: number): void {
  set[bit >> 5] = (set[bit >> 5] ?? 0) | (1 << (bit & 31))
}

/** Sorted bits as words, from the first word with a bit to the last. */
function pack(bits: readonly number[]): { at: number; words: Bits } {
  const at = (bits[0] ?? 0) >> 5
  const words = new Uint32Array(((bits.at(-1) ?? 0) >> 5) - at + 1)
  for (const bit of bits) add(words, bit - at * 32)
  return { at, words }
}
