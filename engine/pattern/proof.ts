// How long the built-in, backtracking engine takes.
//
// A pattern is written out as positions, one for each set of characters it reads (repetitions copied), and `follow`:
// which positions come next. `follow` has an entry for every way that leads there without reading, so that two ways to
// the same position, like two positions that read the same character, show as an overlap. It is DETERMINISTIC when no
// `follow` overlaps and nothing can be passed over in two ways (no repeated item, and no two alternatives, match
// nothing). Then at each character at most one way goes on: whatever the engine goes back to has lost at the next
// character, and it never reads further on a second way. From one start it so takes at most
// (characters read + 1) × (ways out of a position) steps.
//
// ANCHORED, there is one start: linear, loops included. `^`, `$` and `\b` only take ways away.
//
// SEARCH, every character can be a start. A run that began at s and reads up to e has a start inside it wherever it read
// a character that can be the first of a match, with a position that reads such a character. Let no such position lie in
// a loop, and let B of them lie on one way at most: a run then has at most B starts inside it, so no character is read
// by more than B + 1 runs, and all runs together take (B + 1) × characters × ways steps.
import { type Ranges, type Tree, union } from './tree.js'

/** Ways out of a position, in a search B + 1 times these: at 2.8 ns each, 100,000 characters take 28 ms. */
const MAX_WAYS = 100

// A set of up to 16 ranges is read in 2.8 ns, one of 17 to 300 in up to 11 ns.
const MANY_RANGES = 16
const MANY_RANGES_COST = 4

// More positions than this are not written out: 0.2 ms.
const MAX_POSITIONS = 600

/** True when the built-in engine takes time linear in the text; cut the tree first (pattern-cut.ts). */
export function isLinear(tree: Tree, anchored: boolean): boolean {
  if (countPositions(tree) > MAX_POSITIONS) return false
  const positions: Positions = { ranges: [], follow: [], plain: true }
  const { first } = writeOut(tree, positions)
  const { ranges, follow } = positions
  if (!positions.plain || ![first, ...follow].every((ways) => isDistinct(ways, ranges))) return false
  const ways = follow.reduce((most, { length }) => Math.max(most, length), Math.max(first.length, 1))
  const cost = ranges.some((set) => set.length > MANY_RANGES) ? MANY_RANGES_COST : 1
  return cost * ways * (anchored ? 1 : countInnerStarts(first, positions) + 1) <= MAX_WAYS
}

type Positions = { readonly ranges: Ranges[]; readonly follow: number[][]; plain: boolean }

/** A part written out: where it begins and ends, and whether it can match nothing (an assertion always may). */
type Part = { readonly first: readonly number[]; readonly last: readonly number[]; readonly empty: boolean }

const NOTHING: Part = { first: [], last: [], empty: true }

function writeOut(tree: Tree, positions: Positions): Part {
  switch (tree.kind) {
    case 'set': {
      const position = positions.ranges.push(tree.ranges) - 1
      positions.follow.push([])
      return { first: [position], last: [position], empty: false }
    }
    case 'assert':
      return NOTHING
    case 'sequence':
      return tree.items.reduce((part, item) => join(part, writeOut(item, positions), positions), NOTHING)
    case 'choice': {
      const parts = tree.items.map((item) => writeOut(item, positions))
      const empty = parts.filter((part) => part.empty).length
      if (empty > 1) positions.plain = false
      return { first: parts.flatMap((one) => one.first), last: parts.flatMap((one) => one.last), empty: empty > 0 }
    }
    case 'repeat':
      return writeOutRepeat(tree, positions)
  }
}

/** `X{2,4}` as X X (X (X)?)?, `X{2,}` as X X+. */
function writeOutRepeat({ item, min, max }: Tree & { kind: 'repeat' }, positions: Positions): Part {
  if (max === 0) return NOTHING
  const loops = max === Number.POSITIVE_INFINITY
  const copies = loops ? Math.max(min, 1) : max
  let whole = NOTHING
  let before = NOTHING
  const ends: number[] = []
  for (let count = 1; count <= copies; count++) {
    const copy = writeOut(item, positions)
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
    if (ways.length + to.length > MAX_WAYS) positions.plain = false
    else ways.push(...to)
  }
}

/** True when no character goes two ways. */
function isDistinct(ways: readonly number[], ranges: readonly Ranges[]): boolean {
  if (ways.length < 2) return true
  const all = ways.flatMap((way) => ranges[way] ?? []).sort((a, b) => a[0] - b[0])
  return all.every(([start], index) => start > (all[index - 1]?.[1] ?? -1))
}

/** B above: Infinity when a position that may be a start lies in a loop. */
function countInnerStarts(first: readonly number[], { ranges, follow }: Positions): number {
  const starts = union(first.flatMap((position) => ranges[position] ?? []))
  // Copies share their ranges.
  const known = new Map<Ranges, boolean>()
  const inner = ranges.map((set) => {
    const is = known.get(set) ?? overlaps(set, starts)
    known.set(set, is)
    return is
  })
  const most: number[] = []
  // Positions are numbered as they are written, so that only a loop leads back, and a loop is all that lies between.
  for (let position = follow.length - 1; position >= 0; position--) {
    let best = 0
    for (const way of follow[position] ?? []) {
      if (way > position) best = Math.max(best, most[way] ?? 0)
      else if (inner.indexOf(true, way) >= 0 && inner.indexOf(true, way) <= position) return Number.POSITIVE_INFINITY
    }
    most[position] = best + (inner[position] === true ? 1 : 0)
  }
  return first.reduce((sofar, position) => Math.max(sofar, most[position] ?? 0), 0)
}

function overlaps(one: Ranges, other: Ranges): boolean {
  return one.some(([first, last]) => other.some(([from, to]) => first <= to && from <= last))
}

/** Copies included. */
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
