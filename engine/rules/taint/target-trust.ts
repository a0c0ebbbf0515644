// Tells if a step leaves the organization: `target.trust` and `is_external_call` have one meaning, so that either sets both.
import { closedValues, type Step } from '@svc/schemas'
import { didYouMean } from '../../check/nearest.js'
import { quoteWord } from '../../check/quote.js'
import { AmbiguousField, dotted } from '../values/members.js'
import { comparable } from '../values/spelled.js'

const find = dotted(['target', 'trust'])
const listed = listedReader('target.trust')

/** In any spelling, because a label in other letters must not make a target internal. Throws for a value that is not a label. */
function trust(properties: unknown): string | null {
  return listed(find(properties))
}

/**
 * `target.trust` of a step, `internal` or `external`; null when neither it nor the flag is set. Throws AmbiguousField when they
 * disagree, and for another value.
 */
export function targetTrust(step: Step): string | null {
  const trusted = trust(step.properties)
  if (step.is_external_call === undefined) return trusted
  const flagged = step.is_external_call ? 'external' : 'internal'
  if (trusted !== null && trusted !== flagged) throw new AmbiguousField('target.trust')
  return flagged
}

/** True if the step leaves the organization. Throws AmbiguousField for a flag that contradicts `target.trust`, and for another value. */
export function externalCall(step: Step): boolean {
  const trusted = trust(step.properties)
  if (step.is_external_call === undefined) return trusted === 'external'
  if (trusted !== null && (trusted === 'external') !== step.is_external_call)
    throw new AmbiguousField('is_external_call')
  return step.is_external_call
}

/** True if the step leaves the organization, where one answer must be stored: an ambiguous flag counts as true. */
export function isExternalCall(step: Step): boolean {
  try {
    return externalCall(step)
  } catch (error) {
    if (error instanceof AmbiguousField) return true
    throw error
  }
}

/**
 * A reader of the values of a property with a closed list of values (schemas/vocabulary.ts): the listed value that one means,
 * in any spelling and also as a list; null for null. It throws AmbiguousField for any other value: a misspelt value must not
 * evade a policy (docs/adr/0058-spellings.md).
 */
function listedReader(path: string): (value: unknown) => string | null {
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
