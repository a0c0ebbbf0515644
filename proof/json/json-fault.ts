// Finds the first fault in JSON text. It runs only after parseJson has failed, because that does not always report one.

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end'

const space = /[ \t\n\r]*/y
// Matches a part of a string: one pattern for a whole string needs memory in proportion to its length.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters in strings
const letters = /[^"\\\u0000-\u001f]+/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const quote = /"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Offset of the first fault, and what JSON allows there. */
export function jsonFault(text: string): { offset: number; expected: Expected } {
  const open: ('[' | '{')[] = []
  let expected: Expected = 'value'
  let offset = 0
  /** Moves past a match of the pattern; false when it does not match here. */
  const take = (pattern: RegExp) => {
    pattern.lastIndex = offset
    const length = pattern.exec(text)?.[0].length ?? -1
    offset += Math.max(0, length)
    return length > 0
  }
  /** Moves past a string; false when no string begins here. */
  const takeString = () => {
    const start = offset
    if (!take(quote)) return false
    while (take(letters) || take(escaped));
    if (take(quote)) return true
    offset = start
    return false
  }
  const after = (): Expected => (open.length === 0 ? 'end' : open.at(-1) === '[' ? ', or ]' : ', or }')
  for (;;) {
    take(space)
    const here = text[offset]
    const closes = (here === ']' && /\]$/.test(expected)) || (here === '}' && /\}$/.test(expected))
    if (closes) {
      open.pop()
      expected = after()
    } else if (expected.startsWith('value') && (here === '[' || here === '{')) {
      open.push(here)
      expected = here === '[' ? 'value or ]' : 'name or }'
    } else if (expected.startsWith('value') && (takeString() || take(scalar))) {
      expected = after()
      continue
    } else if (expected.startsWith('name') && takeString()) {
      expected = ':'
      continue
    } else if (expected === ':' && here === ':') {
      expected = 'value'
    } else if (expected.startsWith(',') && here === ',') {
      expected = open.at(-1) === '[' ? 'value' : 'name'
    } else {
      return { offset, expected }
    }
    offset++
  }
}
