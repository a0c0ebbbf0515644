// JSON.parse, except for names of members that are spelt with escapes. JSON.parse of some versions of V8 (Node.js 24.9 and 24.21;
// nodejs/node #63785) reads such a name as a name that an earlier text had after the same members.
import { readJson } from './json-reader.js'
import { endOfString, isName } from './literals.js'

/** The value of JSON text, the same on every version of Node.js. Throws SyntaxError, whose message may quote the text. */
export function parseJson(text: string): unknown {
  if (!hasEscapedName(text)) return JSON.parse(text)
  const reading = readJson(text, null)
  if (reading.problem !== null) throw new SyntaxError(`not JSON at position ${reading.problem.offset}`)
  return reading.value
}

/** True if a member name has an escape; also true for some texts that are not JSON. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; ) {
    // In JSON a backslash is in a string, whose end the next quote without one marks.
    const end = endOfString(text, at - 1)
    if (end < 0) return false
    if (isName(text, end + 1)) return true
    at = text.indexOf('\\', end + 1)
  }
  return false
}
