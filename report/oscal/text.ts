// The encoding of text in a report, by which XML, JSON and their readers return it unchanged (docs/design/reports.md §5).

/** The name of the encoding, as documents state it. */
export const textEncoding = 'backslash-1'

/** The encoding in words, as documents state it. */
export const textEncodingNote =
  'Text is written so that every parser returns it unchanged: a backslash is written twice; a control character, a line break, a line separator, a lone surrogate, a noncharacter, a character that changes the direction of text, a space at an end or after another space is written as a backslash, u and its hexadecimal code point in braces; the empty text is written as a backslash, u and empty braces.'

const special = /[\\\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029\u202a-\u202e\u2066-\u2069]|^\s|\s$|(?<= ) /u
const everySpecial = new RegExp(special, 'gu')

/** Writes any string as one that XML 1.0 and the string type of OSCAL accept, and that no parser normalises. */
export function encodeText(text: string): string {
  if (text === '') return '\\u{}'
  if (!special.test(text)) return text
  return text.replace(everySpecial, (one) => (one === '\\' ? '\\\\' : `\\u{${one.codePointAt(0)?.toString(16)}}`))
}

/** The string that `encodeText` wrote; other text is returned as it is. */
export function decodeText(text: string): string {
  return text.replace(/\\(?:\\|u\{([0-9a-f]{0,6})\})/g, (written, code: string | undefined) => {
    if (code === undefined) return '\\'
    const point = Number.parseInt(code, 16)
    if (code === '') return ''
    return point > 0x10ffff ? written : String.fromCodePoint(point)
  })
}
