// The parts of a text that a rule about values compares.
import type { Matcher } from '../../pattern/pattern.js'
import { composed } from './words.js'

/** The value without the punctuation around it, composed and in lower case: `Mia@example.org.` is `mia@example.org`. */
export function comparable(text: string): string {
  return bare(composed(text).toLowerCase().trim())
}

/** The parts of a text between spaces, quotes, brackets, commas and the like. */
export function tokensOf(text: string): string[] {
  return text.split(/[\s"'<>`|,;()]+/)
}

/** The text without the characters at its ends that are neither letters nor digits. */
export function bare(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && !isPart(text, from)) from++
  while (to > from && !isPart(text, to - 1)) to--
  return text.slice(from, to)
}

const isLetter = /[\p{L}\p{N}\p{M}\p{Cs}]/u

/** Letters, digits, marks, and halves of characters outside the basic plane. */
function isPart(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90)
  return isLetter.test(text[index] as string)
}

/**
 * The words of the text that match. A list such as `a@example.org,b@example.org` is its elements when each of them matches. A word
 * such as `https://`, which ends in its match, counts with the words beside it, because readers of links and addresses skip the
 * space. A match that spans words counts with all words that do not match by themselves, so that no match is lost.
 */
export function partsOf(text: string, matches: Matcher): readonly string[] {
  if (!matches(text)) return []
  const parts: string[] = []
  const others: string[] = []
  const words = text.split(/[\s"'<>`|]+/).filter((word) => word !== '')
  for (const [index, word] of words.entries()) {
    if (!matches(word)) others.push(word)
    else {
      const [before, after] = [isOpenAtStart(word) ? 1 : 0, isOpenAtEnd(word, matches) ? 1 : 0]
      if (before + after === 0) parts.push(...elementsOf(word, matches))
      else parts.push(words.slice(Math.max(index - before, 0), index + after + 1).join(' '))
    }
  }
  const rest = others.join(' ')
  if (matches(rest)) parts.push(rest)
  return parts
}

function elementsOf(word: string, matches: Matcher): readonly string[] {
  const elements = word.split(/[,;]+/).filter((element) => element !== '')
  const isList = elements.length > 1 && elements.every((element) => matches(element) && !isOpenAtEnd(element, matches))
  return isList ? elements : [word]
}

/** A domain whose local part is in the word before it, or an `@` alone. */
function isOpenAtStart(word: string): boolean {
  return word.startsWith('@') && (word.includes('.') || bare(word) === '@')
}

/** True if the match ends in a sign that leads to the next word, such as `https://` and `mia@`; `50%` does not. */
function isOpenAtEnd(word: string, matches: Matcher): boolean {
  let to = word.length
  let leads = false
  for (; to > 0 && isSign.test(word[to - 1] as string); to--) leads ||= leading.has(word[to - 1] as string)
  return leads && !matches(word.slice(0, to))
}

const isSign = /[^\p{L}\p{N}\p{M}]/u
const leading = new Set('@/\\:=')
