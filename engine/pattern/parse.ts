// Parses the syntax that RE2 and JavaScript read alike. A pattern with any other syntax is not parsed.
import { anyCase } from './case.js'
import { complement, EMPTY, LAST_CODE_POINT, type Ranges, type Tree, union } from './tree.js'

/**
 * The pattern as a tree, or null when it uses more than the common syntax. Dot matches everything. The tree has no `(?i)`:
 * under an `(?i)` at the start of the pattern, letters are sets of both cases.
 */
export function parsePattern(pattern: string): Tree | null {
  const folds = pattern.startsWith('(?i)')
  const reader = new Reader(folds ? pattern.slice(4) : pattern, folds)
  const tree = reader.choice(0)
  return reader.isCommon && reader.atEnd ? tree : null
}

// RE2 rejects more than 1,000 repetitions. Patterns written by hand are less deep.
const maxRepeat = 1000
const maxDepth = 50

const DIGIT: Ranges = [[48, 57]]
const SPACE: Ranges = [
  [9, 10],
  [12, 13],
  [32, 32],
]
const WORD: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]
const CLASSES: Readonly<Record<string, Ranges>> = {
  d: DIGIT,
  s: SPACE,
  w: WORD,
  D: complement(DIGIT),
  S: complement(SPACE),
  W: complement(WORD),
}
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }
// Not \B: JavaScript finds it within a surrogate pair as well.
const ASSERTIONS: Readonly<Record<string, '^' | '$' | '\\b'>> = { A: '^', z: '$', b: '\\b' }

class Reader {
  readonly #text: string
  readonly #folds: boolean
  #at = 0
  /** False once the pattern has syntax that is not parsed. */
  isCommon = true

  constructor(text: string, folds: boolean) {
    this.#text = text
    this.#folds = folds
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  choice(depth: number): Tree {
    const items = [this.#sequence(depth)]
    while (this.#take('|')) items.push(this.#sequence(depth))
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: 'choice', items }
  }

  #sequence(depth: number): Tree {
    const items: Tree[] = []
    while (this.isCommon && this.#at < this.#text.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const item = this.#atom(depth)
      items.push(this.#repeat(item))
    }
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: 'sequence', items }
  }

  #atom(depth: number): Tree {
    if (this.#take('(')) return this.#group(depth + 1)
    if (this.#take('[')) return this.#class()
    if (this.#take('.')) return { kind: 'set', ranges: [[0, LAST_CODE_POINT]] }
    if (this.#take('^')) return { kind: 'assert', source: '^' }
    if (this.#take('$')) return { kind: 'assert', source: '$' }
    if (this.#peek() === '\\') {
      const assertion = ASSERTIONS[this.#text[this.#at + 1] ?? '']
      if (assertion !== undefined) {
        this.#at += 2
        return { kind: 'assert', source: assertion }
      }
    }
    if (this.#atQuantifier()) return this.#stop()
    return { kind: 'set', ranges: this.#cased(this.#member()) }
  }

  #group(depth: number): Tree {
    if (depth > maxDepth || (this.#peek() === '?' && !this.#take('?:'))) return this.#stop()
    const tree = this.choice(depth)
    return this.#take(')') ? tree : this.#stop()
  }

  #repeat(item: Tree): Tree {
    const [min, max] = this.#times()
    if (min === 1 && max === 1) return item
    this.#take('?')
    if (item.kind === 'assert' || min > max || this.#atQuantifier()) return this.#stop()
    return { kind: 'repeat', item, min, max }
  }

  #times(): [min: number, max: number] {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    if (this.#peek() !== '{') return [1, 1]
    const [all, from = '', comma, to = ''] = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#next(11)) ?? []
    const min = Number(from)
    const max = comma === undefined ? min : to === '' ? Number.POSITIVE_INFINITY : Number(to)
    if (all === undefined || min > maxRepeat || (max > maxRepeat && to !== '')) this.#stop()
    else this.#at += all.length
    return [min, max]
  }

  #class(): Tree {
    const negated = this.#take('^')
    const members: (readonly [number, number])[] = []
    while (this.isCommon && (members.length === 0 || !this.#take(']'))) {
      const bare = this.#peek()
      if (bare === '' || (bare === ']' && members.length === 0) || this.#text.startsWith('[:', this.#at))
        return this.#stop()
      const ranges = this.#member()
      if (this.#peek() !== '-' || this.#text[this.#at + 1] === ']') {
        // A hyphen is a literal at either end only.
        if (bare === '-' && members.length > 0 && this.#peek() !== ']') return this.#stop()
        members.push(...ranges)
        continue
      }
      this.#take('-')
      const low = single(ranges)
      const high = this.#peek() === '' ? null : single(this.#member())
      if (low === null || high === null || low > high || bare === '-') return this.#stop()
      members.push([low, high])
    }
    const cased = this.#cased(members)
    const ranges = negated ? complement(cased) : union(cased)
    return ranges.length === 0 ? this.#stop() : { kind: 'set', ranges }
  }

  #cased(ranges: Ranges): Ranges {
    const cased = this.#folds ? anyCase(ranges) : ranges
    if (cased === null) this.#stop()
    return cased ?? []
  }

  /** One character or one escape. */
  #member(): Ranges {
    const codePoint = this.#text.codePointAt(this.#at) ?? 0
    this.#at += codePoint > 0xffff ? 2 : 1
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) this.#stop()
    return codePoint === 92 ? this.#escape() : [[codePoint, codePoint]]
  }

  #escape(): Ranges {
    const escaped = this.#peek()
    this.#at += 1
    const named = CLASSES[escaped]
    if (named !== undefined) return named
    const hex = escaped === 'x' ? /^[\da-fA-F]{2}/.exec(this.#next(2))?.[0] : undefined
    if (hex !== undefined) this.#at += 2
    const control = hex === undefined ? CONTROLS[escaped] : Number.parseInt(hex, 16)
    const codePoint = control ?? (/^[!-/:-@[-^`{-~]$/.test(escaped) ? escaped.charCodeAt(0) : undefined)
    if (codePoint === undefined) this.#stop()
    return [[codePoint ?? 0, codePoint ?? 0]]
  }

  #atQuantifier(): boolean {
    return '*+?{'.includes(this.#text[this.#at] ?? ' ')
  }

  #next(length: number): string {
    return this.#text.slice(this.#at, this.#at + length)
  }

  #peek(): string {
    return this.#text[this.#at] ?? ''
  }

  #take(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    return true
  }

  #stop(): Tree {
    this.isCommon = false
    return EMPTY
  }
}

function single(ranges: Ranges): number | null {
  const [only] = ranges
  return ranges.length === 1 && only !== undefined && only[0] === only[1] ? only[0] : null
}
