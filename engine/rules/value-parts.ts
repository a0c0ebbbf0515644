// The parts of a text that a rule about values compares.
import type { Matcher } from '../pattern/pattern.js'
import { composed } from './words.js'

/** Characters at the ends of a word that belong to the sentence around it. */
const around = new Set(' \t\n\r.,;:!?(){}[]"\'`<>*_')

/** The value without the punctuation around it, composed and in lower case: `Mia@example.org.` is `mia@example.org`. */
export function comparable(text: string): string {
  return bare(composed(text).toLowerCase().trim())
}

/** The text without the punctuation around it. */
export function bare(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && around.has(text[from] as string)) from++
  while (to > from && around.has(text[to - 1] as string)) to--
  return text.slice(from, to)
}

/**
 * The words of the text that match. A list such as `a@example.org,b@example.org` is its elements when each of them matches. A match
 * that spans words counts with all words that do not match by themselves, so that no match is lost.
 */
export function partsOf(text: string, matches: Matcher): readonly string[] {
  if (!matches(text)) return []
  const parts: string[] = []
  const others: string[] = []
  for (const word of text.split(/[\s"'<>`|]+/)) {
    if (word === '') continue
    if (!matches(word)) others.push(word)
    else parts.push(...elementsOf(word, matches))
  }
  const rest = others.join(' ')
  if (matches(rest)) parts.push(rest)
  return parts
}

function elementsOf(word: string, matches: Matcher): readonly string[] {
  const elements = word.split(/[,;]+/).filter((element) => element !== '')
  return elements.length > 1 && elements.every(matches) ? elements : [word]
}
