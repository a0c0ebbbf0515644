// Reads a text once, following every way through a program at the same time: a set of bits moves from character to
// character, and where a set went is kept while there is room (a DFA, built as it is needed).
import { add, type Bits, compileMoves, type Moves, move } from './moves.js'
import { compileProgram, KINDS, type Kind, type Place, type Program, START } from './program.js'
import { estimateSize } from './size.js'

type State = {
  readonly set: Bits
  readonly before: Kind
  /** Nothing that follows can make a match. */
  readonly dead: boolean
  /** By character class; null is a match, undefined was not asked yet. */
  readonly next: (State | null | undefined)[]
}

/** Words looked at for one character: 100,000 characters are read in 33 ms at this bound. */
const MAX_WORK = 320

/** Bits of a set: RE2JS compiles a pattern of this size in 2 ms. */
const MAX_SIZE = 1280

// The size below which neither bound can be exceeded: 62 bits in 2 words lead to at most 62 groups of 5.
const SMALL_SIZE = 60

// Words written to keep states: 3 ms, and 1 MB for a pattern, which few texts come near.
const MAX_KEPT = 8000

/** A test for texts, in time linear in the text. Throws RangeError for too large a pattern, and what RE2JS throws. */
export function compileScan(pattern: string, anchored: boolean): (text: string) => boolean {
  const size = estimateSize(pattern)
  if (size > MAX_SIZE) throw new RangeError(`its repetitions make ${size} characters, more than ${MAX_SIZE}`)
  const program = compileProgram(pattern)
  let scanner = size > SMALL_SIZE ? new Scanner(program, anchored) : undefined
  return (text) => {
    if (!program.possible(text)) return false
    scanner ??= new Scanner(program, anchored)
    return scanner.test(text)
  }
}

/** The same for a pattern that RE2 is known to accept: a small one is compiled when the first text comes. */
export function compileKnownScan(pattern: string, anchored: boolean): (text: string) => boolean {
  if (estimateSize(pattern) > SMALL_SIZE) return compileScan(pattern, anchored)
  let compiled: ReturnType<typeof compileScan> | undefined
  return (text) => {
    compiled ??= compileScan(pattern, anchored)
    return compiled(text)
  }
}

class Scanner {
  readonly #program: Program
  readonly #anchored: boolean
  readonly #width: number
  readonly #ascii: Uint16Array
  readonly #kinds: (Kind | undefined)[] = []
  readonly #readers: (Bits | undefined)[] = []
  readonly #moves: (Moves | undefined)[] = []
  #states = new Map<string, State>()
  #kept = 0

  constructor(program: Program, anchored: boolean) {
    this.#program = program
    this.#anchored = anchored
    this.#width = Math.ceil(program.size / 32)
    this.#ascii = Uint16Array.from({ length: 128 }, (_, codePoint) => program.classOf(codePoint))
    const places = KINDS.flatMap((before) => KINDS.map((after) => program.placeOf(before, after)))
    const work = Math.max(...places.map((place) => this.#movesAt(place).work))
    if (work > MAX_WORK) throw new RangeError(`it takes ${work} steps for a character, more than ${MAX_WORK}`)
  }

  test(text: string): boolean {
    if (this.#kept > MAX_KEPT) this.#forget()
    const first = new Uint32Array(this.#width)
    add(first, START)
    let state = this.#state(first, 'edge')
    let index = 0
    while (index < text.length) {
      const codePoint = text.codePointAt(index) ?? 0
      const characterClass = this.#classOf(codePoint)
      let next = state.next[characterClass]
      if (next === undefined) {
        if (this.#kept > MAX_KEPT) return this.#wade(text, index, state)
        next = this.#step(state, characterClass)
      }
      if (next === null) return true
      if (next.dead) return false
      state = next
      index += codePoint > 0xffff ? 2 : 1
    }
    return move(this.#movesAt(this.#program.placeOf(state.before, 'edge')), state.set, new Uint32Array(this.#width))
  }

  /** Reads the rest of the text without keeping anything. */
  #wade(text: string, from: number, state: State): boolean {
    let before = state.before
    let set = state.set.slice()
    let spare = new Uint32Array(this.#width)
    let index = from
    while (index < text.length) {
      const codePoint = text.codePointAt(index) ?? 0
      const characterClass = this.#classOf(codePoint)
      const after = this.#kindOf(characterClass)
      if (move(this.#movesAt(this.#program.placeOf(before, after)), set, spare)) return true
      if (!keep(spare, this.#readersOf(characterClass))) return false
      const swap = set
      set = spare
      spare = swap
      before = after
      index += codePoint > 0xffff ? 2 : 1
    }
    return move(this.#movesAt(this.#program.placeOf(before, 'edge')), set, spare)
  }

  #step(state: State, characterClass: number): State | null {
    const after = this.#kindOf(characterClass)
    const set = new Uint32Array(this.#width)
    const matched = move(this.#movesAt(this.#program.placeOf(state.before, after)), state.set, set)
    keep(set, this.#readersOf(characterClass))
    const next = matched ? null : this.#state(set, after)
    state.next[characterClass] = next
    this.#kept += 4 + this.#width
    return next
  }

  #state(set: Bits, before: Kind): State {
    const key = `${before} ${set.join()}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state: State = { set, before, dead: set.every((word) => word === 0), next: [] }
    this.#states.set(key, state)
    return state
  }

  #forget(): void {
    this.#states = new Map()
    this.#kept = 0
  }

  #classOf(codePoint: number): number {
    return codePoint < 128 ? (this.#ascii[codePoint] ?? 0) : this.#program.classOf(codePoint)
  }

  #kindOf(characterClass: number): Kind {
    const known = this.#kinds[characterClass]
    if (known !== undefined) return known
    const kind = this.#program.kindOf(characterClass)
    this.#kinds[characterClass] = kind
    return kind
  }

  #movesAt(place: Place): Moves {
    const known = this.#moves[place]
    if (known !== undefined) return known
    const moves = compileMoves(this.#program, place, this.#anchored)
    this.#moves[place] = moves
    return moves
  }

  #readersOf(characterClass: number): Bits {
    const known = this.#readers[characterClass]
    if (known !== undefined) return known
    const readers = new Uint32Array(this.#width)
    for (const bit of this.#program.readers(characterClass)) add(readers, bit)
    if (!this.#anchored) add(readers, START)
    this.#readers[characterClass] = readers
    return readers
  }
}

/** Takes all other bits out of a set; true while any is left. */
function keep(set: Bits, bits: Bits): boolean {
  let left = 0
  for (let word = 0; word < set.length; word++) {
    const both = (set[word] ?? 0) & (bits[word] ?? 0)
    set[word] = both
    left |= both
  }
  return left !== 0
}
