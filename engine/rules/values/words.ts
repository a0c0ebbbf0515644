// A text as words, in the form in which values are compared.

/**
 * The words of a text in lower case: runs of letters and digits, numbers, and single other characters. Spaces only
 * separate words.
 */
export function wordsOf(text: string): string[] {
  return isAscii.test(text) ? asciiWords(text.toLowerCase()) : anyWords(text)
}

const isAscii = /^[\0-\x7f]*$/

function anyWords(text: string): string[] {
  return Array.from(composed(text).toLowerCase().matchAll(word), ([found, number]) =>
    number === undefined ? found : canonicalNumber(number),
  )
}

/** A number with a fraction or thousands separators that is not part of an address or a date; a run of letters and digits; another character. */
const word =
  /(?<![\p{L}\p{N}.,'])(\d+(?:[,'’]\d{3})*(?:\.\d+)?)(?![\p{L}\p{N}]|[.,'’]\d)|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu

/** The same for ASCII characters in lower case, read one by one: most texts are such. */
function asciiWords(text: string): string[] {
  const words: string[] = []
  let at = 0
  while (at < text.length) {
    const kind = kinds[text.charCodeAt(at)] as number
    const number = kind === DIGIT ? numberAt(text, at) : null
    const from = at
    at = number !== null ? from + number.length : kind >= LETTER ? runEnd(text, from) : from + 1
    if (number !== null) words.push(canonicalNumber(number))
    else if (kind !== SPACE) words.push(text.slice(from, at))
  }
  return words
}

const SPACE = 0
const SYMBOL = 1
const LETTER = 2
const DIGIT = 3

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/\d/.test(character)) return DIGIT
  return /\w/.test(character) ? LETTER : /\s/.test(character) ? SPACE : SYMBOL
})

function runEnd(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && (kinds[text.charCodeAt(at)] as number) >= LETTER) at++
  return at
}

const asciiNumber = /(?<![.,'])\d+(?:[,']\d{3})*(?:\.\d+)?(?![a-z0-9]|[.,']\d)/y

function numberAt(text: string, at: number): string | null {
  asciiNumber.lastIndex = at
  return asciiNumber.exec(text)?.[0] ?? null
}

/** `1,250.00` as `1250`: separators and a fraction of zero do not change a number. Zeros at the start do. */
function canonicalNumber(number: string): string {
  const plain = number.replaceAll(/[,'’]/g, '')
  return plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain
}

const symbol = /^[^\p{L}\p{N}\p{M}_]$/u

/** True if a word is a single character that is not of a run. */
function isSymbol(word: string): boolean {
  const code = word.charCodeAt(0)
  if (word.length === 1 && code < 128) return kinds[code] === SYMBOL
  return word.length <= 2 && symbol.test(word)
}

/** The words without the punctuation around them. */
export function trimmed(words: readonly string[]): readonly string[] {
  let from = 0
  let to = words.length
  while (from < to && isSymbol(words[from] as string)) from++
  while (to > from && isSymbol(words[to - 1] as string)) to--
  // Punctuation alone is compared as it is.
  return from === to || to - from === words.length ? words : words.slice(from, to)
}

/**
 * The composed form, in which equivalent texts are equal. Normalizing a long run of combining marks takes quadratic time,
 * so a text with a run longer than any script uses (UAX #15, stream-safe: 30) is not normalized.
 */
export function composed(text: string): string {
  // No character before the combining marks composes with another.
  if (/^[\0-\u02ff]*$/.test(text)) return text
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC')
}

/** A copy that does not retain the text it was cut from; shorter values never do. */
export function detached(value: string): string {
  if (value.length < 13) return value
  return Buffer.from(value, 'utf16le').toString('utf16le')
}
