// Patterns are untrusted and must never hang the server (engine.md §3). One that is proven linear runs on the built-in
// engine, every other one is scanned; what is too large for that is refused. 100,000 characters take less than 50 ms.
import { cutEnd, cutStart } from './pattern-cut.js'
import { parsePattern } from './pattern-parse.js'
import { isLinear } from './pattern-proof.js'
import { compileKnownScan, compileScan } from './pattern-scan.js'
import { literalOf, source, type Tree } from './pattern-tree.js'
import { ParameterError } from './rule.js'

export type Matcher = (text: string) => boolean

/** Matches at the start of the text, dot matches newline (seed §2). Throws ParameterError for what cannot be run. */
export function compileAnchored(pattern: string, parameter: string): Matcher {
  const tree = parsePattern(pattern)
  if (tree === null) return refusing(parameter, () => compileScan(pattern, true))
  const needed = cutEnd(tree)
  if (isLinear(needed, true)) return native(`^(?:${source(needed)})`)
  return refusing(parameter, () => compileKnownScan(sourceForRe2(needed), true))
}

/** Matches anywhere in the text, dot matches newline. Throws ParameterError for what cannot be run. */
export function compileSearch(pattern: string, parameter: string): Matcher {
  const tree = parsePattern(pattern)
  if (tree === null) return refusing(parameter, () => compileScan(pattern, false))
  const needed = cutStart(cutEnd(tree))
  const literal = literalOf(needed)
  if (literal !== null) return (text) => text.includes(literal)
  if (isLinear(needed, false)) return native(source(needed))
  return refusing(parameter, () => compileKnownScan(sourceForRe2(needed), false))
}

function native(pattern: string): Matcher {
  const compiled = new RegExp(pattern, 'su')
  return (text) => compiled.test(text)
}

function sourceForRe2(tree: Tree): string {
  return source(tree).replaceAll('\\u{', '\\x{')
}

function refusing(parameter: string, compile: () => Matcher): Matcher {
  try {
    return compile()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ParameterError(
      parameter,
      error instanceof RangeError
        ? `the pattern is too large to run in bounded time: ${reason}`
        : `the pattern cannot run in linear time: ${reason}; look-around and back-references are not accepted`,
    )
  }
}
