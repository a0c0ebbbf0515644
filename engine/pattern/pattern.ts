// Patterns are untrusted and must never hang the server (docs/design/engine.md §3, README.md). A pattern that is proven
// linear runs on the built-in engine; every other pattern is scanned, or rejected when it is too large to scan. 100,000
// characters take less than 50 ms.

import { ParameterError } from '../check/parameter-error.js'
import { cutEnd, cutStart } from './cut.js'
import { patternFault } from './fault.js'
import { parsePattern } from './parse.js'
import { isLinear } from './proof.js'
import { compileKnownScan, compileScan } from './scan.js'
import { literalOf, source, type Tree } from './tree.js'

export type Matcher = (text: string) => boolean

export interface Search {
  readonly test: Matcher
  /** A pattern for the built-in engine that is found in every text that `test` accepts, or null. */
  readonly sign: string | null
}

/** Matches at the start of the text; dot matches newline. Throws ParameterError for a pattern that cannot be run. */
export function compileAnchored(pattern: string, parameter: string): Matcher {
  const tree = parsePattern(pattern)
  if (tree === null) return rejecting(pattern, parameter, () => compileScan(pattern, true))
  const needed = cutEnd(tree)
  if (isLinear(needed, true)) return native(`^(?:${source(needed)})`)
  return rejecting(pattern, parameter, () => compileKnownScan(sourceForRe2(needed), true))
}

/** Matches anywhere in the text; dot matches newline. Throws ParameterError for a pattern that cannot be run. */
export function compileSearch(pattern: string, parameter: string): Search {
  const tree = parsePattern(pattern)
  if (tree === null) return { sign: null, test: rejecting(pattern, parameter, () => compileScan(pattern, false)) }
  const needed = cutStart(cutEnd(tree))
  const literal = literalOf(needed)
  if (literal !== null) return { sign: source(needed), test: (text) => text.includes(literal) }
  if (isLinear(needed, false)) return { sign: source(needed), test: native(source(needed)) }
  const test = rejecting(pattern, parameter, () => compileKnownScan(sourceForRe2(needed), false))
  const start = linearStart(needed)
  return { sign: start === null ? null : source(start), test }
}

/**
 * One test that is true for every text in which one of the searches is found, and for few others. The built-in engine
 * tries the alternatives of a union one after the other at each character, each alone: the union takes the time of all.
 */
export function unionOf(searches: readonly Search[]): Matcher {
  const sources = [...new Set(searches.flatMap(({ sign }) => sign ?? []))]
  const unions = inGroups(sources).map((group) => native(group.map((one) => `(?:${one})`).join('|')))
  const others = searches.filter(({ sign }) => sign === null).map(({ test }) => test)
  const [first, ...rest] = [...unions, ...others]
  if (first === undefined) return () => false
  return rest.length === 0 ? first : (text) => first(text) || rest.some((test) => test(text))
}

/** A shorter start than this is found in many texts; a longer one than this is rare already, and each proof takes time. */
const minStart = 3
const maxStart = 8

/** The longest start of a sequence, up to `maxStart`, that is proven linear; null when it is shorter than `minStart`. */
function linearStart(tree: Tree): Tree | null {
  if (tree.kind !== 'sequence') return null
  for (let length = Math.min(tree.items.length - 1, maxStart); length >= minStart; length--) {
    const start = cutEnd({ kind: 'sequence', items: tree.items.slice(0, length) })
    if (isLinear(start, false)) return start.kind === 'sequence' && start.items.length >= minStart ? start : null
  }
  return null
}

/** The built-in engine does not optimize a pattern longer than 20,480 characters. */
const maxUnion = 8000

/** Consecutive sources with at most `maxUnion` characters in all. */
function inGroups(sources: readonly string[]): string[][] {
  const groups: string[][] = []
  let left = 0
  for (const one of sources) {
    left -= one.length + 5
    const group = left < 0 ? undefined : groups.at(-1)
    if (group === undefined) {
      groups.push([one])
      left = maxUnion - one.length
    } else group.push(one)
  }
  return groups
}

function native(pattern: string): Matcher {
  const compiled = new RegExp(pattern, 'su')
  return (text) => compiled.test(text)
}

function sourceForRe2(tree: Tree): string {
  return source(tree).replaceAll('\\u{', '\\x{')
}

function rejecting(pattern: string, parameter: string, compile: () => Matcher): Matcher {
  try {
    return compile()
  } catch (error) {
    throw new ParameterError(parameter, patternFault(pattern, error), { fault: 'pattern' })
  }
}
