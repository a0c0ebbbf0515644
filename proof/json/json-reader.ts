// Reads JSON text in one pass, as strictly as the caller asks, and reports the first fault with its offset. Messages do not quote
// the text, which may hold payloads.
import { endOfString } from './literals.js'

export interface JsonProblem {
  readonly message: string
  /** 0-based offset into the text; null when unknown. */
  readonly offset: number | null
}

export type JsonReading = { readonly value: unknown; readonly problem: null } | { readonly problem: JsonProblem }

/** Content that evidence must not have although it is JSON. Duplicate names and lone surrogates are never accepted. */
export interface Strictness {
  readonly maxDepth: number
  /** True if an integer literal is read exactly; a literal with a point or an exponent is read as the nearest double. */
  readonly isExact: (literal: string) => boolean
  readonly inexact: string
}

/** The value of a text. `strictness` null: whatever is JSON; the last of equal names counts. */
export function readJson(text: string, strictness: Strictness | null): JsonReading {
  try {
    return { value: new JsonReader(text, strictness).value(), problem: null }
  } catch (error) {
    if (error instanceof Fault) return { problem: error.problem }
    throw error
  }
}

class Fault extends Error {
  readonly code = 'NOT_JSON'
  readonly problem: JsonProblem
  constructor(message: string, offset: number) {
    super(message)
    this.problem = { message, offset }
  }
}

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end'

/** A list or an object that is being read; `name` belongs to the member that is read next. */
interface Open {
  readonly value: unknown[] | Record<string, unknown>
  name: string
}

class JsonReader {
  readonly #text: string
  readonly #strictness: Strictness | null
  /** An explicit stack, so that a deep value cannot exhaust the call stack. */
  readonly #open: Open[] = []
  #at = 0

  constructor(text: string, strictness: Strictness | null) {
    this.#text = text
    this.#strictness = strictness
  }

  value(): unknown {
    let expected: Expected = 'value'
    for (;;) {
      let value = this.#begun(expected)
      if (isContainer(value)) {
        const isList = Array.isArray(value)
        if (!this.#takes(isList ? ']' : '}')) {
          this.#open.push({ value, name: '' })
          expected = 'value or ]'
          if (!isList) expected = this.#name('name or }')
          continue
        }
      }
      for (;;) {
        const parent = this.#open.at(-1)
        if (parent === undefined) return this.#whole(value)
        keep(parent, value)
        const isList = Array.isArray(parent.value)
        if (this.#takes(',')) {
          expected = isList ? 'value' : this.#name('name')
          break
        }
        if (!this.#takes(isList ? ']' : '}')) throw this.#fault(isList ? ', or ]' : ', or }')
        value = parent.value
        this.#open.pop()
      }
    }
  }

  /** A scalar, or a new list or object whose members follow. */
  #begun(expected: Expected): unknown {
    this.#space()
    const start = this.#at
    const first = this.#text[start]
    if (first === '"') return this.#string()
    if (first === '[' || first === '{') {
      const { maxDepth } = this.#strictness ?? { maxDepth: Number.POSITIVE_INFINITY }
      if (this.#open.length >= maxDepth) throw new Fault(`nested deeper than ${maxDepth} levels`, start)
      this.#at += 1
      return first === '[' ? [] : {}
    }
    scalar.lastIndex = start
    const literal = scalar.exec(this.#text)?.[0]
    if (literal === undefined) throw this.#fault(expected)
    this.#at += literal.length
    return words.has(literal) ? words.get(literal) : this.#number(literal, start)
  }

  #number(literal: string, start: number): number {
    const value = Number(literal)
    if (this.#strictness === null || (literal.length < 16 && !/[eE]/.test(literal))) return value
    if (!Number.isFinite(value)) throw new Fault('a number too large to be kept exactly', start)
    const { isExact, inexact } = this.#strictness
    if (/^-?\d+$/.test(literal) && !isExact(literal)) throw new Fault(inexact, start)
    return value
  }

  /** Reads a name and the colon after it; returns what follows. */
  #name(expected: Expected): Expected {
    this.#space()
    const start = this.#at
    if (this.#text[start] !== '"') throw this.#fault(expected)
    const name = this.#string()
    const parent = this.#open.at(-1) as Open
    if (this.#strictness !== null && Object.hasOwn(parent.value, name))
      throw new Fault(`duplicate member name \`${name.slice(0, 80)}\``, start)
    if (!this.#takes(':')) throw this.#fault(':')
    parent.name = name
    return 'value'
  }

  /** The text of the string that begins here. */
  #string(): string {
    const start = this.#at
    const end = endOfString(this.#text, start)
    if (end < 0) throw new Fault('a string that does not end', start)
    const raw = this.#text.slice(start + 1, end)
    const plain = unescaped(raw)
    if (plain === null) throw new Fault('a string that is not JSON', start)
    // An escape can hide a lone surrogate.
    if (this.#strictness !== null && plain !== raw && !plain.isWellFormed()) throw new Fault('a lone surrogate', start)
    this.#at = end + 1
    return plain
  }

  #takes(sign: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== sign) return false
    this.#at += 1
    return true
  }

  #space(): void {
    for (; ; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }

  #whole(value: unknown): unknown {
    this.#space()
    if (this.#at < this.#text.length) throw this.#fault('end')
    return value
  }

  #fault(expected: Expected): Fault {
    const at = this.#at
    const here = this.#text.charAt(at)
    const is_after_comma = (expected === 'name' && here === '}') || (expected === 'value' && here === ']')
    if (is_after_comma && /,\s*$/.test(this.#text.slice(Math.max(0, at - maxGap), at)))
      return new Fault(`not JSON: a comma before \`${here}\`: remove the comma`, at)
    const found = at >= this.#text.length ? 'the end' : /[[\]{},:]/.test(here) ? `\`${here}\`` : 'something else'
    return new Fault(`not JSON: expected ${expected}, found ${found}`, at)
  }
}

/** Spaces and lines between a comma and the bracket after it. */
const maxGap = 200

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
])

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters in strings
const forbidden = /[\\\u0000-\u001f]/
const escapes = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The text of a string in JSON without its quotes; null if it is not JSON. */
function unescaped(raw: string): string | null {
  if (!forbidden.test(raw)) return raw
  if (forbidden.test(raw.replace(escapes, ''))) return null
  return raw.replace(escapes, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function isContainer(value: unknown): value is Open['value'] {
  return typeof value === 'object' && value !== null
}

function keep({ value: container, name }: Open, value: unknown): void {
  if (Array.isArray(container)) container.push(value)
  // An assignment to __proto__ would set the prototype.
  else if (name === '__proto__')
    Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true })
  else container[name] = value
}
