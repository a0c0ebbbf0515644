// Reads a text once and follows all ways through a program at the same time: a set of bits moves from character to
// character. The moves are cached up to a limit (a DFA that is built when it is needed).
import { add, type Bits, compileMoves, type Moves, move } from './moves.js'
import { type Boundary, compileProgram, KINDS, type Kind, type Program, START } from './program.js'
import { estimateSize } from './size.js'

type State = {
  readonly set: Bits
  readonly before: Kind
  /** No text that follows makes a match. */
  readonly dead: boolean
  /** By character class; null is a match, undefined is not computed. */
  readonly next: (State | null | undefined)[]
}

/** Words read for one character: 100,000 characters take 33 ms at this bound. */
const maxWork = 320

/** Bits of a set: RE2JS compiles a pattern of this size in 2 ms. */
const maxSize = 1280

// No smaller pattern exceeds a bound: 62 bits in 2 words lead to at most 62 groups of 5.
const smallSize = 60

// Words of cached states: 3 ms, and 1 MB for a pattern, which few texts reach.
const maxCached = 8000

const firstSurrogate = 0xd800

/** A test in time linear in the text. Throws RangeError for a pattern that is too large, and the errors of RE2JS. */
export function compileScan(pattern: string, anchored: boolean): (text: string) => boolean {
  const size = estimateSize(pattern)
  if (size > maxSize) throw new RangeError(`its repetitions make ${size} characters, more than ${maxSize}`)
  const program = compileProgram(pattern)
  let scanner = size > smallSize ? new Scanner(program, anchored) : undefined
  return (text) => {
    if (!program.possible(text)) return false
    scanner ??= new Scanner(program, anchored)
    return scanner.test(text)
  }
}

/** The same for a pattern that RE2 is known to accept: a small pattern is compiled for its first text. */
export function compileKnownScan(pattern: string, anchored: boolean): (text: string) => boolean {
  if (estimateSize(pattern) > smallSize) return compileScan(pattern, anchored)
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
  /** Most texts are short: to look the first state up took half of their time. */
  #first: State | null = null
  #cached = 0

  constructor(program: Program, anchored: boolean) {
    this.#program = program
    this.#anchored = anchored
    this.#width = Math.ceil(program.size / 32)
    this.#ascii = Uint16Array.from({ length: 128 }, (_, codePoint) => program.classOf(codePoint))
    const boundaries = KINDS.flatMap((before) => KINDS.map((after) => program.boundaryOf(before, after)))
    const work = Math.max(...boundaries.map((boundary) => this.#movesAt(boundary).work))
    if (work > maxWork) throw new RangeError(`it takes ${work} steps for a character, more than ${maxWork}`)
  }

  test(text: string): boolean {
    if (this.#cached > maxCached) this.#forget()
    this.#first ??= this.#firstState()
    let state = this.#first
    const ascii = this.#ascii
    const { length } = text
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index)
      const codePoint = unit < firstSurrogate ? unit : (text.codePointAt(index) ?? 0)
      const characterClass = unit < 128 ? (ascii[unit] ?? 0) : this.#program.classOf(codePoint)
      let next = state.next[characterClass]
      if (next === undefined) {
        if (this.#cached > maxCached) return this.#readUncached(text, index, state)
        next = this.#step(state, characterClass)
      }
      if (next === null) return true
      if (next.dead) return false
      state = next
      if (codePoint > 0xffff) index++
    }
    return move(this.#movesAt(this.#program.boundaryOf(state.before, 'edge')), state.set, new Uint32Array(this.#width))
  }

  /** Reads the rest of the text without the cache. */
  #readUncached(text: string, from: number, state: State): boolean {
    let before = state.before
    let set = state.set.slice()
    let spare = new Uint32Array(this.#width)
    let index = from
    while (index < text.length) {
      const codePoint = text.codePointAt(index) ?? 0
      const characterClass = this.#classOf(codePoint)
      const after = this.#kindOf(characterClass)
      if (move(this.#movesAt(this.#program.boundaryOf(before, after)), set, spare)) return true
      if (!keep(spare, this.#readersOf(characterClass))) return false
      const swap = set
      set = spare
      spare = swap
      before = after
      index += codePoint > 0xffff ? 2 : 1
    }
    return move(this.#movesAt(this.#program.boundaryOf(before, 'edge')), set, spare)
  }

  #step(state: State, characterClass: number): State | null {
    const after = this.#kindOf(characterClass)
    const set = new Uint32Array(this.#width)
    const matched = move(this.#movesAt(this.#program.boundaryOf(state.before, after)), state.set, set)
    keep(set, this.#readersOf(characterClass))
    const next = matched ? null : this.#state(set, after)
    state.next[characterClass] = next
    this.#cached += 4 + this.#width
    return next
  }

  #firstState(): State {
    const first = new Uint32Array(this.#width)
    add(first, START)
    return this.#state(first, 'edge')
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
    this.#first = null
    this.#cached = 0
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

  #movesAt(boundary: Boundary): Moves {
    const known = this.#moves[boundary]
    if (known !== undefined) return known
    const moves = compileMoves(this.#program, boundary, this.#anchored)
    this.#moves[boundary] = moves
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

/** Removes all other bits from a set; true while a bit is left. */
function keep(set: Bits, bits: Bits): boolean {
  let left = 0
  for (let word = 0; word < set.length; word++) {
    const both = (set[word] ?? 0) & (bits[word] ?? 0)
    set[word] = both
    left |= both
  }
  return left !== 0
}
