// Reads JSON text: JSON.parse, except for names of members that are spelt with escapes. JSON.parse of some versions of V8
// (Node.js 24.9 and 24.21; nodejs/node #63785) reads such a name as a name that an earlier text had after the same members.
import { endOfNumber, endOfString, isName } from './literals.js'

/** A list or an object that is being read; `name` belongs to the member that is read next. */
interface Open {
  readonly value: unknown[] | Record<string, unknown>
  name: string
}

/** The value of JSON text, the same on every version of Node.js. Throws SyntaxError, whose message may quote the text. */
export function parseJson(text: string): unknown {
  return hasEscapedName(text) ? new OwnReader(text).value() : JSON.parse(text)
}

/** True if a member name has an escape; also true for some texts that are not JSON. */
export function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; ) {
    // In JSON a backslash is in a string, whose end the next quote without one marks.
    const end = endOfString(text, at - 1)
    if (end < 0) return false
    if (isName(text, end + 1)) return true
    at = text.indexOf('\\', end + 1)
  }
  return false
}

class OwnReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The value of the whole text; an explicit stack, so that a deep value cannot exhaust the call stack. */
  value(): unknown {
    const open: Open[] = []
    for (;;) {
      let value = this.#begun()
      if (isContainer(value) && !this.#takes(Array.isArray(value) ? ']' : '}')) {
        open.push({ value, name: Array.isArray(value) ? '' : this.#name() })
        continue
      }
      for (;;) {
        const parent = open.at(-1)
        if (parent === undefined) return this.#whole(value)
        keep(parent, value)
        if (this.#takes(',')) {
          if (!Array.isArray(parent.value)) parent.name = this.#name()
          break
        }
        if (!this.#takes(Array.isArray(parent.value) ? ']' : '}')) throw this.#fault()
        value = parent.value
        open.pop()
      }
    }
  }

  /** A scalar, or a new list or object whose members follow. */
  #begun(): unknown {
    if (this.#takes('[')) return []
    if (this.#takes('{')) return {}
    const start = this.#at
    const first = this.#text[start] ?? ''
    if (first === '"') return this.#string()
    const word = words.find(([text]) => this.#text.startsWith(text, start))
    if (word !== undefined) {
      this.#at += word[0].length
      return word[1]
    }
    this.#at = endOfNumber(this.#text, start)
    const literal = this.#text.slice(start, this.#at)
    if (!number.test(literal)) throw this.#fault()
    return Number(literal)
  }

  #name(): string {
    const name = this.#string()
    if (!this.#takes(':')) throw this.#fault()
    return name
  }

  #string(): string {
    const start = this.#at
    const end = this.#text[start] === '"' ? endOfString(this.#text, start) : -1
    const decoded = end < 0 ? null : unescaped(this.#text.slice(start + 1, end))
    if (decoded === null) throw this.#fault()
    this.#at = end + 1
    return decoded
  }

  #takes(sign: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== sign) return false
    this.#at += 1
    this.#space()
    return true
  }

  #space(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'end')) this.#at += 1
  }

  #whole(value: unknown): unknown {
    this.#space()
    if (this.#at < this.#text.length) throw this.#fault()
    return value
  }

  #fault(): SyntaxError {
    return new SyntaxError(`not JSON at position ${this.#at}`)
  }
}

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters in strings
const forbidden = /[\\\u0000-\u001f]/
const escapes = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The text of a string in JSON without its quotes; null if it is not JSON. */
export function unescaped(raw: string): string | null {
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
