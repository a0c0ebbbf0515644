// Patterns are untrusted: whatever is not proven linear runs on an engine that is linear by construction
// (engine.md §3), so that no pattern can hang the server.
import { RE2JS } from 're2js'
import { ParameterError } from './rule.js'

export type Matcher = (text: string) => boolean

/** Matches at the start of the text, dot matches newline (seed §2). Throws ParameterError when no engine can run it. */
export function compileAnchored(pattern: string, parameter: string): Matcher {
  if (isPlain(pattern)) {
    const native = new RegExp(`^(?:${pattern})`, 'su')
    return (text) => native.test(text)
  }
  const compiled = compileLinear(pattern, parameter)
  return (text) => compiled.matcher(text).lookingAt()
}

/** Matches anywhere in the text, dot matches newline. Throws ParameterError when no engine can run it. */
export function compileSearch(pattern: string, parameter: string): Matcher {
  if (isPlain(pattern)) {
    const native = new RegExp(pattern, 'su')
    return (text) => native.test(text)
  }
  const compiled = compileLinear(pattern, parameter)
  return (text) => compiled.matcher(text).find()
}

// Literals, ASCII classes and alternatives, each repeated at most a fixed number of times: no part can match the same
// text in two ways often enough to matter, and both engines read every character of it the same way.
const literal = String.raw`(?:[A-Za-z0-9 _,:;@#%&=~<>"'!/-]|\\[.*+?()[\]{}|^$\\/])`
const member = String.raw`(?:[A-Za-z0-9 _,:;@#%&=~<>"'!/.*+?(){}|$]|\\[\]\\^-])`
const range = '(?:a-z|A-Z|0-9|a-f|A-F|[A-Za-z0-9]-[A-Za-z0-9])'
const group = `\\[\\^?(?:${range}|${member})+\\]`
const plain = new RegExp(`^(?:(?:${literal}|${group})(?:\\{\\d{1,2}\\})?|\\|)*\\$?$`)

/** True for the patterns that the built-in engine answers in time linear in the text. */
function isPlain(pattern: string): boolean {
  if (!plain.test(pattern)) return false
  try {
    new RegExp(pattern, 'su')
    return true
  } catch {
    return false
  }
}

function compileLinear(pattern: string, parameter: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ParameterError(
      parameter,
      `the pattern cannot run in linear time: ${reason}; look-around and back-references are not accepted`,
    )
  }
}
