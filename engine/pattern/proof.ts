// The time that the built-in, backtracking engine takes.
//
// A pattern is expanded to positions, one for each set of characters it reads (repetitions copied), and `follow`: the
// positions that come next. `follow` has an entry for every way that leads there without reading a character, so that two
// ways to one position, like two positions that read the same character, are an overlap. A pattern is DETERMINISTIC when
// no `follow` overlaps and nothing is optional in two ways (no repeated item, and at most one alternative, matches the
// empty text). Then at most one way continues at each character: every way that the engine backtracks to fails at the next
// character. One start takes at most (characters read + 1) × (ways out of a position) steps.
//
// An ANCHORED pattern has one start: it is linear, with loops. `^`, `$` and `\b` only remove ways.
//
// In a SEARCH every character can be a start. A run from s to e contains a start wherever it reads a character that can be
// the first of a match, at a position that reads such a character. Let no such position be in a loop, and let at most B of
// them be on one way: a run contains at most B starts, so at most B + 1 runs read a character, and all runs together take
// (B + 1) × characters × ways steps.
import { type Ranges, type Tree, union } from './tree.js'

/** Ways out of a position, in a search times B + 1: at 2.8 ns each, 100,000 characters take 28 ms. */
const maxWays = 100

// A set of up to 16 ranges takes 2.8 ns, a set of 17 to 300 ranges up to 11 ns.
const manyRanges = 16
const manyRangesCost = 4

// Patterns with more positions are not expanded: 0.2 ms.
const maxPositions = 600

/** True when the built-in engine takes time linear in the text. The tree must be cut (cut.ts). */
export function isLinear(tree: Tree, anchored: boolean): boolean {
  if (countPositions(tree) > maxPositions) return false
  const positions: Positions = { ranges: [], follow: [], plain: true }
  const { first } = expand(tree, positions)
  const { ranges, follow } = positions
  if (!positions.plain || ![first, ...follow].every((ways) => isDistinct(ways, ranges))) return false
  const ways = follow.reduce((max, { length }) => Math.max(max, length), Math.max(first.length, 1))
  const cost = ranges.some((set) => set.length > manyRanges) ? manyRangesCost : 1
  return cost * ways * (anchored ? 1 : countInnerStarts(first, positions) + 1) <= maxWays
}

type Positions = { readonly ranges: Ranges[]; readonly follow: number[][]; plain: boolean }

/** An expanded part: its first and last positions, and whether it can match the empty text (an assertion can). */
type Part = { readonly first: readonly number[]; readonly last: readonly number[]; readonly empty: boolean }

const NOTHING: Part = { first: [], last: [], empty: true }

function expand(tree: Tree, positions: Positions): Part {
  switch (tree.kind) {
    case 'set': {
      const position = positions.ranges.push(tree.ranges) - 1
      positions.follow.push([])
      return { first: [position], last: [position], empty: false }
    }
    case 'assert':
      return NOTHING
    case 'sequence':
      return tree.items.reduce((part, item) => join(part, expand(item, positions), positions), NOTHING)
    case 'choice': {
      const parts = tree.items.map((item) => expand(item, positions))
      const empty = parts.filter((part) => part.empty).length
      if (empty > 1) positions.plain = false
      return { first: parts.flatMap((one) => one.first), last: parts.flatMap((one) => one.last), empty: empty > 0 }
    }
    case 'repeat':
      return expandRepeat(tree, positions)
  }
}

/** `X{2,4}` as X X (X (X)?)?, `X{2,}` as X X+. */
function expandRepeat({ item, min, max }: Tree & { kind: 'repeat' }, positions: Positions): Part {
  if (max === 0) return NOTHING
  const loops = max === Number.POSITIVE_INFINITY
  const copies = loops ? Math.max(min, 1) : max
  let whole = NOTHING
  let before = NOTHING
  const ends: number[] = []
  for (let count = 1; count <= copies; count++) {
    const copy = expand(item, positions)
    if (copy.empty) positions.plain = false
    if (count === 1) whole = copy
    else connect(before.last, copy.first, positions)
    if (count >= min) ends.push(...copy.last)
    before = copy
  }
  if (loops) connect(before.last, before.first, positions)
  return { first: whole.first, last: ends, empty: min === 0 || whole.empty }
}

function join(left: Part, right: Part, positions: Positions): Part {
  connect(left.last, right.first, positions)
  return {
    first: left.empty ? [...left.first, ...right.first] : left.first,
    last: right.empty ? [...left.last, ...right.last] : right.last,
    empty: left.empty && right.empty,
  }
}

function connect(from: readonly number[], to: readonly number[], positions: Positions): void {
  for (const position of from) {
    const ways = positions.follow[position] ?? []
    if (ways.length + to.length > maxWays) positions.plain = false
    else ways.push(...to)
  }
}

/** True when no character leads to two positions. */
function isDistinct(ways: readonly number[], ranges: readonly Ranges[]): boolean {
  if (ways.length < 2) return true
  const all = ways.flatMap((way) => ranges[way] ?? []).sort((a, b) => a[0] - b[0])
  return all.every(([start], index) => start > (all[index - 1]?.[1] ?? -1))
}

/** B above: Infinity when a position that can be a start is in a loop. */
function countInnerStarts(first: readonly number[], { ranges, follow }: Positions): number {
  const starts = union(first.flatMap((position) => ranges[position] ?? []))
  // Copies share their ranges.
  const known = new Map<Ranges, boolean>()
  const inner = ranges.map((set) => {
    const is = known.get(set) ?? overlaps(set, starts)
    known.set(set, is)
    return is
  })
  const counts: number[] = []
  // Positions are numbered in order, so that only a loop leads back, to a position that begins the loop.
  for (let position = follow.length - 1; position >= 0; position--) {
    let best = 0
    for (const way of follow[position] ?? []) {
      if (way > position) best = Math.max(best, counts[way] ?? 0)
      else if (inner.indexOf(true, way) >= 0 && inner.indexOf(true, way) <= position) return Number.POSITIVE_INFINITY
    }
    counts[position] = best + (inner[position] === true ? 1 : 0)
  }
  return first.reduce((sofar, position) => Math.max(sofar, counts[position] ?? 0), 0)
}

function overlaps(one: Ranges, other: Ranges): boolean {
  return one.some(([first, last]) => other.some(([from, to]) => first <= to && from <= last))
}

/** The number of positions, with the copies of repetitions. */
function countPositions(tree: Tree): number {
  switch (tree.kind) {
    case 'set':
      return 1
    case 'assert':
      return 0
    case 'sequence':
    case 'choice':
      return tree.items.reduce((sum, item) => sum + countPositions(item), 0)
    case 'repeat':
      return countPositions(tree.item) * (tree.max === Number.POSITIVE_INFINITY ? Math.max(tree.min, 1) : tree.max)
  }
}
