// Letters in both cases, for `(?i)`.
import { type Ranges, union } from './tree.js'

const LAST_ASCII = 127
// From one case of the ASCII letters to the other.
const STEP = 32
// In Unicode and in RE2 the Kelvin sign and the long s are cases of k and s.
const OTHERS: readonly (readonly [letter: number, other: number])[] = [
  [107, 0x212a],
  [115, 0x17f],
]

/** The ranges with the other cases of every letter; null for ranges beyond ASCII. */
export function anyCase(ranges: Ranges): Ranges | null {
  if (ranges.some(([, last]) => last > LAST_ASCII)) return null
  const lower = within(ranges, 97, 122)
  const upper = within(ranges, 65, 90)
  const lowered = [...lower, ...moved(upper, STEP)]
  const others = OTHERS.filter(([letter]) => within(lowered, letter, letter).length > 0)
  const more = others.map(([, other]) => [other, other] as const)
  return union([...ranges, ...lowered, ...moved(lower, -STEP), ...more])
}

function within(ranges: Ranges, first: number, last: number): Ranges {
  return ranges
    .map(([from, to]) => [Math.max(from, first), Math.min(to, last)] as const)
    .filter(([from, to]) => from <= to)
}

function moved(ranges: Ranges, by: number): Ranges {
  return ranges.map(([first, last]) => [first + by, last + by])
}
