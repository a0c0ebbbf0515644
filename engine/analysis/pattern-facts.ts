// What can be proven about a pattern from its tree; an unproven fact is false.
import { cutEnd, cutStart } from '../pattern/cut.js'
import { parsePattern } from '../pattern/parse.js'
import { EMPTY, type Ranges, type Tree, union } from '../pattern/tree.js'

export interface PatternFacts {
  /** Every text matches. */
  readonly always: boolean
  /** No text matches. */
  readonly never: boolean
}

/** Facts about a pattern that is anchored at the start, or searched. */
export function factsOf(pattern: string, anchored: boolean): PatternFacts {
  const tree = parsePattern(pattern)
  if (tree === null) return { always: false, never: false }
  const needed = anchored ? withoutStart(cutEnd(tree)) : cutStart(cutEnd(tree))
  return { always: needed === EMPTY || isEmpty(needed), never: isNever(tree, false, false) }
}

/** True when no text matches both patterns, which are anchored at the start. */
export function areDisjoint(a: string, b: string): boolean {
  const [left, right] = [parsePattern(a), parsePattern(b)]
  if (left === null || right === null) return false
  const others = prefixOf(right).sets
  return prefixOf(left).sets.some((set, index) => {
    const other = others[index]
    return other !== undefined && !overlap(set, other)
  })
}

/** A few texts that probably match, the shortest first; the caller has to test them. */
export function samplesOf(pattern: string): readonly string[] {
  const tree = parsePattern(pattern)
  if (tree === null) return []
  return [...new Set([0, 1, 2, 3].map((turn) => sample(tree, turn)))].filter((text) => text.length <= 2000)
}

function isEmpty(tree: Tree): boolean {
  return tree.kind === 'sequence' && tree.items.length === 0
}

/** An anchored pattern may repeat its anchor. */
function withoutStart(tree: Tree): Tree {
  if (tree.kind === 'assert' && tree.source === '^') return EMPTY
  if (tree.kind !== 'sequence') return tree
  const [first, ...rest] = tree.items
  return first?.kind === 'assert' && first.source === '^' ? withoutStart({ kind: 'sequence', items: rest }) : tree
}

function shortest(tree: Tree): number {
  switch (tree.kind) {
    case 'set':
      return 1
    case 'assert':
      return 0
    case 'sequence':
      return tree.items.reduce((sum, item) => sum + shortest(item), 0)
    case 'choice':
      return Math.min(...tree.items.map(shortest))
    case 'repeat':
      return tree.min * shortest(tree.item)
  }
}

/** `before`, `after`: a match has at least one character on that side of the tree. */
function isNever(tree: Tree, before: boolean, after: boolean): boolean {
  switch (tree.kind) {
    case 'set':
      return tree.ranges.length === 0
    case 'assert':
      return (tree.source === '^' && before) || (tree.source === '$' && after)
    case 'choice':
      return tree.items.every((item) => isNever(item, before, after))
    case 'repeat':
      return tree.min > 0 && isNever(tree.item, before, after)
    case 'sequence': {
      const lengths = tree.items.map(shortest)
      return tree.items.some((item, index) => {
        const earlier = before || lengths.slice(0, index).some((length) => length > 0)
        const later = after || lengths.slice(index + 1).some((length) => length > 0)
        return isNever(item, earlier, later)
      })
    }
  }
}

/** The characters that each position of a match can have, as far as they are known. */
interface Prefix {
  readonly sets: readonly Ranges[]
  /** The tree matches nothing longer or shorter. */
  readonly whole: boolean
}

const maxPrefix = 40

function prefixOf(tree: Tree): Prefix {
  switch (tree.kind) {
    case 'set':
      return { sets: [tree.ranges], whole: true }
    case 'assert':
      return { sets: [], whole: tree.source === '^' }
    case 'sequence':
      return prefixOfAll(tree.items)
    case 'repeat': {
      const copies = Array.from({ length: Math.min(tree.min, maxPrefix) }, () => tree.item)
      const prefix = prefixOfAll(copies)
      return { sets: prefix.sets, whole: prefix.whole && tree.min === tree.max && tree.min <= maxPrefix }
    }
    case 'choice': {
      const all = tree.items.map((item) => prefixOf(item).sets)
      const length = Math.min(...all.map((sets) => sets.length))
      const sets = Array.from({ length }, (_, index) => union(all.flatMap((one) => one[index] ?? [])))
      return { sets, whole: false }
    }
  }
}

function prefixOfAll(items: readonly Tree[]): Prefix {
  const sets: Ranges[] = []
  for (const item of items) {
    const prefix = prefixOf(item)
    sets.push(...prefix.sets)
    if (!prefix.whole || sets.length > maxPrefix) return { sets: sets.slice(0, maxPrefix), whole: false }
  }
  return { sets, whole: true }
}

function overlap(a: Ranges, b: Ranges): boolean {
  return a.some(([from, to]) => b.some(([first, last]) => from <= last && first <= to))
}

/** One text; with another `turn`, it has other alternatives and more repetitions. */
function sample(tree: Tree, turn: number): string {
  switch (tree.kind) {
    case 'set':
      return characterIn(tree.ranges)
    case 'assert':
      return ''
    case 'sequence':
      return tree.items.map((item) => sample(item, turn)).join('')
    case 'choice':
      return sample(tree.items[turn % tree.items.length] ?? EMPTY, turn)
    case 'repeat': {
      const times = Math.min(tree.max, tree.min + (turn > 1 ? 1 : 0), 1000)
      return sample(tree.item, turn).repeat(times)
    }
  }
}

/** A readable character, if the set has one. */
function characterIn(ranges: Ranges): string {
  const has = (code: number) => ranges.some(([first, last]) => first <= code && code <= last)
  const plain = [...'a1A-. '].map((one) => one.codePointAt(0) ?? 97).find(has)
  return String.fromCodePoint(plain ?? ranges[0]?.[0] ?? 97)
}
