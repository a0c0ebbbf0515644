// RE2JS parses and compiles a pattern, which defines its meaning. scan.ts runs the program, because no bound holds for the
// matcher of RE2JS (README.md).
import { need } from '../check/need.js'

/** A compiled pattern. Its methods compute their result at each call. */
export type Program = {
  /** The number of bits of a set: START, MATCH, and one for each instruction that reads a character. */
  readonly size: number
  /** The class of a character, from 0: no instruction distinguishes characters of one class. */
  readonly classOf: (codePoint: number) => number
  /** The kind of the characters of a class; `other` for every class when the pattern has no conditions. */
  readonly kindOf: (characterClass: number) => Kind
  /** The bits of the instructions that read characters of the class. */
  readonly readers: (characterClass: number) => number[]
  /** The conditions of the pattern that hold between two characters of these kinds. */
  readonly boundaryOf: (before: Kind, after: Kind) => Boundary
  /** The bits reached from one bit without reading a character, at such a boundary. */
  readonly follow: (bit: number, boundary: Boundary) => number[]
  /** False when the text does not contain a string that every match contains. */
  readonly possible: (text: string) => boolean
}

/** The kinds of characters that `^`, `$` and `\b` distinguish; edge: the start or end of the text. */
export type Kind = 'edge' | 'newline' | 'word' | 'other'
export const KINDS: readonly Kind[] = ['edge', 'newline', 'word', 'other']

/** The conditions that hold between two characters, as bits that RE2 numbers. */
export type Boundary = number

export const START = 0
export const MATCH = 1

type Instruction = { op: number; out: number; arg: number; matchRune: (codePoint: number) => boolean }
type Filter = { type: number; str: string; subs: Filter[] }

// The numbers of RE2JS 2.10.0 for instructions and conditions. The fuzz test fails when a version has others.
const ALT = 1
const ALT_MATCH = 2
const CAPTURE = 3
const CONDITION = 4
const MATCHED = 6
const NOP = 7
const FIRST_READER = 8
const LAST_READER = 11
const EXACT = 1
const AND = 2
const OR = 3

/** Compiles with dot matching newline. Throws the error of RE2JS for an invalid pattern. */
export function compileProgram(pattern: string): Program {
  const { RE2JS } = need('re2js') as typeof import('re2js')
  const re = RE2JS.compile(pattern, RE2JS.DOTALL).re2()
  const instructions: Instruction[] = re.prog.inst
  const at: number[] = [-1, -1]
  const bitAt = new Map<number, number>()
  instructions.forEach(({ op }, index) => {
    if (op < FIRST_READER || op > LAST_READER) return
    bitAt.set(index, at.length)
    at.push(index)
  })
  const asks = instructions.reduce((all, { op, arg }) => (op === CONDITION ? all | arg : all), 0)
  const sample = (characterClass: number) => (characterClass === 0 ? 0 : (re.dfa.classBounds[characterClass - 1] ?? 0))
  return {
    size: at.length,
    classOf: (codePoint) => re.dfa.runeClass(codePoint),
    kindOf: (characterClass) => (asks === 0 ? 'other' : kindOf(sample(characterClass))),
    readers: (characterClass) => {
      const codePoint = sample(characterClass)
      return [...bitAt].filter(([index]) => instructions[index]?.matchRune(codePoint)).map(([, bit]) => bit)
    },
    boundaryOf: (before, after) => asks & conditions(before, after),
    follow: (bit, boundary) => {
      const from = bit === START ? re.prog.start : instructions[at[bit] ?? 0]?.out
      return closure(instructions, from, boundary).map((index) => bitAt.get(index) ?? MATCH)
    },
    possible: (text) => re.prefilter === null || possible(re.prefilter, text),
  }
}

function kindOf(codePoint: number): Kind {
  if (codePoint === 10) return 'newline'
  return /^\w$/.test(String.fromCodePoint(codePoint)) ? 'word' : 'other'
}

function conditions(before: Kind, after: Kind): Boundary {
  let holds = (before === 'word') === (after === 'word') ? 32 : 16
  if (before === 'edge') holds |= 1 | 4
  if (before === 'newline') holds |= 1
  if (after === 'edge') holds |= 2 | 8
  if (after === 'newline') holds |= 2
  return holds
}

/** The readers and matches reached from an instruction at a boundary. */
function closure(instructions: readonly Instruction[], from: number, boundary: Boundary): number[] {
  const reached: number[] = []
  const seen = new Uint8Array(instructions.length)
  const open = [from]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const one = instructions[index]
    if (one === undefined || seen[index] === 1) continue
    seen[index] = 1
    if (one.op === ALT || one.op === ALT_MATCH) open.push(one.out, one.arg)
    else if (one.op === NOP || one.op === CAPTURE) open.push(one.out)
    else if (one.op === CONDITION && (one.arg & ~boundary) === 0) open.push(one.out)
    else if (one.op === MATCHED || one.op >= FIRST_READER) reached.push(index)
  }
  return reached
}

/** True if the text contains the strings that RE2JS finds necessary for a match. */
function possible(filter: Filter, text: string): boolean {
  if (filter.type === EXACT) return text.includes(filter.str)
  if (filter.type === AND) return filter.subs.every((one) => possible(one, text))
  if (filter.type === OR) return filter.subs.some((one) => possible(one, text))
  return true
}
