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

/** Matches at the start of the text; dot matches newline. Throws ParameterError for a pattern that cannot be run. */
export function compileAnchored(pattern: string, parameter: string): Matcher {
  const tree = parsePattern(pattern)
  if (tree === null) return rejecting(pattern, parameter, () => compileScan(pattern, true))
  const needed = cutEnd(tree)
  if (isLinear(needed, true)) return native(`^(?:${source(needed)})`)
  return rejecting(pattern, parameter, () => compileKnownScan(sourceForRe2(needed), true))
}

/** Matches anywhere in the text; dot matches newline. Throws ParameterError for a pattern that cannot be run. */
export function compileSearch(pattern: string, parameter: string): Matcher {
  const tree = parsePattern(pattern)
  if (tree === null) return rejecting(pattern, parameter, () => compileScan(pattern, false))
  const needed = cutStart(cutEnd(tree))
  const literal = literalOf(needed)
  if (literal !== null) return (text) => text.includes(literal)
  if (isLinear(needed, false)) return native(source(needed))
  return rejecting(pattern, parameter, () => compileKnownScan(sourceForRe2(needed), false))
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
    throw new ParameterError(parameter, patternFault(pattern, error))
  }
}
