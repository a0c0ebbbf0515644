// Properties with a closed list of values (schemas/vocabulary.ts): a misspelt value must not evade a policy
// (docs/adr/0058-spellings.md).
import { closedValues } from '@svc/schemas'
import { didYouMean } from '../check/nearest.js'
import { quoteWord } from '../check/quote.js'
import { AmbiguousField } from './members.js'
import { comparable } from './spelled.js'

/**
 * A reader of the values of a property: the listed value that one means, in any spelling and also as a list; null for null.
 * It throws AmbiguousField for any other value, because nothing tells which one is meant.
 */
export function listedReader(path: string): (value: unknown) => string | null {
  const listed = new Set(closedValues.get(path))
  return (value) => {
    if (value === null || (typeof value === 'string' && listed.has(value))) return value
    const given = Array.isArray(value) ? value : [value]
    let found: string | null = null
    for (const one of given) {
      const word = comparable(path, one)
      if (typeof word !== 'string' || !listed.has(word)) throw notListed(path, one, [...listed])
      if (found !== null && found !== word) throw new AmbiguousField(path)
      found = word
    }
    if (found === null) throw notListed(path, value, [...listed])
    return found
  }
}

function notListed(path: string, value: unknown, listed: readonly string[]): AmbiguousField {
  const hint = typeof value === 'string' ? didYouMean(value, listed) : ''
  const choices = listed.map((one) => `\`${one}\``).join(' or ')
  return new AmbiguousField(
    path,
    `is ${quoteWord(value)}, which is not one of its values`,
    `set \`${path}\` to ${choices}${hint}`,
  )
}
