// Where JSON text stops being JSON. Asked only once parsing has failed, because the parser does not always say.

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end'

const space = /[ \t\n\r]*/y
// Piece by piece: one pattern for a whole string takes more memory the longer it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings, so they are what is looked for
const letters = /[^"\\\u0000-\u001f]+/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const quote = /"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Offset of the first thing that does not belong, and what should have stood there. */
export function jsonFault(text: string): { offset: number; expected: Expected } {
  const open: ('[' | '{')[] = []
  let expected: Expected = 'value'
  let offset = 0
  /** Moves past what the pattern matches here; false when it does not. */
  const take = (pattern: RegExp) => {
    pattern.lastIndex = offset
    const length = pattern.exec(text)?.[0].length ?? -1
    offset += Math.max(0, length)
    return length > 0
  }
  /** Moves past a string; stays where it is when there is none. */
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
