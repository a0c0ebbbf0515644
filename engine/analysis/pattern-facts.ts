// Facts about a pattern that its tree proves; an unproven fact is false.
import { parsePattern } from '../pattern/parse.js'
import type { Ranges, Tree } from '../pattern/tree.js'

/** True when no text matches. */
export function isNever(pattern: string): boolean {
  const tree = parsePattern(pattern)
  return tree !== null && neverMatches(tree, false, false)
}

/** True when no text matches both patterns, which are anchored at the start. */
export function areDisjoint(a: string, b: string): boolean {
  const [left, right] = [beginOf(a), beginOf(b)]
  return left.some((set, index) => right[index] !== undefined && !overlap(set, right[index]))
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
function neverMatches(tree: Tree, before: boolean, after: boolean): boolean {
  switch (tree.kind) {
    case 'set':
      return tree.ranges.length === 0
    case 'assert':
      return (tree.source === '^' && before) || (tree.source === '$' && after)
    case 'choice':
      return tree.items.every((item) => neverMatches(item, before, after))
    case 'repeat':
      return tree.min > 0 && neverMatches(tree.item, before, after)
    case 'sequence': {
      const lengths = tree.items.map(shortest)
      return tree.items.some((item, index) => {
        const earlier = before || lengths.slice(0, index).some((length) => length > 0)
        const later = after || lengths.slice(index + 1).some((length) => length > 0)
        return neverMatches(item, earlier, later)
      })
    }
  }
}

const maxBegin = 40

/** The characters that each of the first positions of a match can have, as far as the tree has no choice. */
function beginOf(pattern: string): readonly Ranges[] {
  const sets: Ranges[] = []
  const tree = parsePattern(pattern)
  if (tree !== null) readBegin(tree, sets)
  return sets
}

/** False where the tree matches texts of several lengths, so that later positions are unknown. */
function readBegin(tree: Tree, sets: Ranges[]): boolean {
  if (tree.kind === 'set') return sets.push(tree.ranges) < maxBegin
  if (tree.kind === 'sequence') return tree.items.every((item) => readBegin(item, sets))
  if (tree.kind !== 'repeat') return tree.kind === 'assert' && tree.source === '^'
  const copies = Array.from({ length: Math.min(tree.min, maxBegin) }, () => tree.item)
  return copies.every((item) => readBegin(item, sets)) && tree.min === tree.max
}

function overlap(a: Ranges, b: Ranges): boolean {
  return a.some(([from, to]) => b.some(([first, last]) => from <= last && first <= to))
}
