// Members that are near misses of well-known ones: they become properties, and the caller hears of it.
import { nearest } from '@svc/engine/parts'
import { documents, type JsonMap } from '@svc/schemas'
import { plain } from './flat-body.js'

const known = Object.keys(Object(documents['copilot-request'].properties))

/** Suggestions for each member that is one letter away from a known one, or several in a long name. */
export function slipsIn(others: JsonMap): string[] {
  return Object.keys(others).flatMap((key) => {
    const meant = nearest(key, known)
    return meant === null || !isSlip(plain(key), plain(meant)) ? [] : `found \`${key}\`; did you mean \`${meant}\`?`
  })
}

/** A short word is a slip only when at most one letter differs: `total` is not `tool`. */
function isSlip(word: string, name: string): boolean {
  if (word === name) return false
  return word.length > 7 || Math.max(lettersLeft(word, name), lettersLeft(name, word)) <= 1
}

/** Letters of `word` beyond those of `other`. */
function lettersLeft(word: string, other: string): number {
  return [...other].reduce((left, letter) => left.replace(letter, ''), word).length
}
