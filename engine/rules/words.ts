// A text as words, in the form in which values are compared.

/**
 * The words of a text in lower case: runs of letters and digits, numbers, and single other characters. Spaces only
 * separate words.
 */
export function wordsOf(text: string): string[] {
  return Array.from(composed(text).toLowerCase().matchAll(word), ([found, number]) =>
    number === undefined ? found : canonicalNumber(number),
  )
}

/** A number with a fraction or thousands separators that is not part of an address or a date; a run of letters and digits; another character. */
const word =
  /(?<![\p{L}\p{N}.,'])(\d+(?:[,'’]\d{3})*(?:\.\d+)?)(?![\p{L}\p{N}]|[.,'’]\d)|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu

/** `1,250.00` as `1250`: separators and a fraction of zero do not change a number. Zeros at the start do. */
function canonicalNumber(number: string): string {
  const plain = number.replaceAll(/[,'’]/g, '')
  return plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain
}

const isSymbol = /^[^\p{L}\p{N}\p{M}_]$/u

/** The words without the punctuation around them. */
export function trimmed(words: readonly string[]): readonly string[] {
  let from = 0
  let to = words.length
  while (from < to && isSymbol.test(words[from] as string)) from++
  while (to > from && isSymbol.test(words[to - 1] as string)) to--
  // Punctuation alone is compared as it is.
  return from === to ? words : words.slice(from, to)
}

/**
 * The composed form, in which equivalent texts are equal. Normalizing a long run of combining marks takes quadratic time,
 * so a text with a run longer than any script uses (UAX #15, stream-safe: 30) is not normalized.
 */
export function composed(text: string): string {
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC')
}

/** A copy that does not retain the text it was cut from. */
export function detached(value: string): string {
  return Buffer.from(value, 'utf16le').toString('utf16le')
}
