// Untrusted text in a message: on one line, and shortened.

/** The maximum number of characters of a value in a message. */
const maxQuoted = 60

/** The text in backticks, cut, with control and invisible characters as escapes. */
export function quote(text: string): string {
  return `\`${onOneLine(cut(text, maxQuoted))}\``
}

/** A value where a word is expected. A short word is not a payload; longer text could be one. */
export function quoteWord(value: unknown): string {
  if (value === '') return 'empty'
  if (typeof value === 'string') return value.length <= 40 ? quote(value) : 'a long text'
  return typeof value === 'object' ? 'not text' : `\`${String(value)}\``
}

/** A path in backticks: the middle of a very long one is left out. */
export function quotePath(text: string): string {
  return `\`${onOneLine(text.length > 120 ? `${text.slice(0, 60)}…${text.slice(-50)}` : text)}\``
}

/** A dot-separated path with its list indexes in brackets: `policies.3.params` is `policies[3].params`. */
export function bracketed(path: string): string {
  return path.replace(/(^|\.)(\d+)(?=\.|$)/g, '[$2]')
}

/** The message on one line, with each quoted part cut. */
export function tidy(message: string): string {
  return onOneLine(
    cut(
      message.replace(/`([^`]*)`/g, (_, text: string) => `\`${cut(text, maxQuoted)}\``),
      600,
    ),
  )
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

/** Control and format characters, spaces but the ordinary one, line separators and lone surrogates as JSON writes them. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/gu, (character) => {
    const plain = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
    return plain ?? [...character].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join('')
  })
}
