// JSON text for requests. JSON.stringify writes a large double as an integer, which the API rejects as inexact.
import { endOfString } from './literals.js'

/** Integers beyond 2^53-1 have at least 16 digits; most texts have none, and the test is cheap. */
const longDigits = /\d{16}/
const number = /[\d.eE+-]+/y

/** The JSON text of a value, with `.0` after each integer beyond 2^53-1, so that every reader gets the same number. */
export function requestJson(value: unknown): string {
  const text = JSON.stringify(value)
  if (!longDigits.test(text)) return text
  const pieces: string[] = []
  let written = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) {
      index = endOfString(text, index)
    } else if (code >= 0x30 && code <= 0x39) {
      number.lastIndex = index
      const literal = number.exec(text)?.[0] ?? ''
      const end = index + literal.length
      if (/^\d+$/.test(literal) && !Number.isSafeInteger(Number(literal))) {
        pieces.push(text.slice(written, end), '.0')
        written = end
      }
      index = end - 1
    }
  }
  return pieces.join('') + text.slice(written)
}
