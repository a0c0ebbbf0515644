// Sets of bits, and where a whole set goes at once. Most bits lead to the next one, and many to the same others
// (`x{0,500}key`: every x leads on to k), so that a set moves with one shift and a few groups.
import { MATCH, type Place, type Program, START } from './program.js'

/** 32 bits a word. */
export type Bits = Uint32Array

/** Where sets go without reading a character, at one place of the text. */
export type Moves = {
  /** The bits that lead to the next bit. */
  readonly chain: Bits
  /** Who has one of the bits of `who`, words `at` and on, gets the bits of `gets`, words `to` and on. */
  readonly groups: readonly { readonly at: number; readonly who: Bits; readonly to: number; readonly gets: Bits }[]
  /** How many words are looked at for one character. */
  readonly work: number
}

// Bits reached from bits, all in all: 1 ms. What people write stays below 2,000.
const MAX_REACHED = 5000

/**
 * The moves of a program; a search may begin at every place, so that its START stays. Throws RangeError when too many
 * bits lead to too many.
 */
export function compileMoves(program: Program, place: Place, anchored: boolean): Moves {
  const width = Math.ceil(program.size / 32)
  const chain = new Uint32Array(width)
  const members = new Map<string, { who: number[]; gets: number[] }>()
  let total = 0
  for (let bit = 0; bit < program.size; bit++) {
    if (bit === MATCH) continue
    const reached = program.follow(bit, place)
    total += reached.length
    if (total > MAX_REACHED) throw new RangeError(`its parts follow each other in more than ${MAX_REACHED} ways`)
    if (bit === START && !anchored) reached.push(START)
    if (reached.includes(bit + 1)) add(chain, bit)
    const others = reached.filter((one) => one !== bit + 1).sort((a, b) => a - b)
    if (others.length === 0) continue
    const key = others.join()
    const same = members.get(key)
    if (same === undefined) members.set(key, { who: [bit], gets: others })
    else same.who.push(bit)
  }
  const groups = [...members.values()].map(({ who, gets }) => {
    const [from, into] = [pack(who), pack(gets)]
    return { at: from.at, who: from.words, to: into.at, gets: into.words }
  })
  const work = groups.reduce((sum, { who, gets }) => sum + who.length + gets.length + 2, width)
  return { chain, groups, work }
}

/** Puts what `set` reaches into `into`; true when that is a match. */
export function move({ chain, groups }: Moves, set: Bits, into: Bits): boolean {
  let carry = 0
  for (let word = 0; word < set.length; word++) {
    const on = (set[word] ?? 0) & (chain[word] ?? 0)
    into[word] = (on << 1) | carry
    carry = on >>> 31
  }
  for (const { at, who, to, gets } of groups) {
    let found = 0
    for (let word = 0; word < who.length && found === 0; word++) found = (set[at + word] ?? 0) & (who[word] ?? 0)
    if (found === 0) continue
    for (let word = 0; word < gets.length; word++) into[to + word] = (into[to + word] ?? 0) | (gets[word] ?? 0)
  }
  return ((into[0] ?? 0) & (1 << MATCH)) !== 0
}

/** Adds one bit. */
export function add(set: Bits, bit: number): void {
  set[bit >> 5] = (set[bit >> 5] ?? 0) | (1 << (bit & 31))
}

/** Sorted bits as the words from the first to the last that has any. */
function pack(bits: readonly number[]): { at: number; words: Bits } {
  const at = (bits[0] ?? 0) >> 5
  const words = new Uint32Array(((bits.at(-1) ?? 0) >> 5) - at + 1)
  for (const bit of bits) add(words, bit - at * 32)
  return { at, words }
}
