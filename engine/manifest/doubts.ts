// What a policy asks for that no step can have: it loads, and never applies, which its author should know.

import { type JsonMap, propertyWords, stepAliases, stepWords, verbs } from '@svc/schemas'
import { didYouMean } from '../check/nearest.js'
import { quote } from '../check/quote.js'

export interface Doubt {
  readonly code: 'UNKNOWN_STEP_TYPE' | 'UNKNOWN_VERB' | 'UNKNOWN_PROPERTY'
  /** Seen from the policy's `params`. */
  readonly path: readonly string[]
  /** Whether the last member's name is meant. */
  readonly at_key: boolean
  /** The rest of a sentence whose subject is the value at the path. */
  readonly says: string
}

const stepTypes = new Set<string>([...stepWords.map(({ step_type }) => step_type), ...Object.keys(stepAliases)])
const knownVerbs = new Set<string>(verbs)
const properties = new Set(propertyWords.map(({ name }) => name))
const namespaces = new Set(propertyWords.map(({ name }) => name.slice(0, name.indexOf('.'))))

interface Place {
  readonly path: readonly string[]
  readonly value: unknown
}

/** The words in parameters, at any depth, that are in no vocabulary. */
export function doubtsAbout(params: JsonMap): Doubt[] {
  const found: Doubt[] = []
  const pending: Place[] = [{ path: [], value: params }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    for (const member of membersOf(place)) {
      const key = member.path.at(-1) ?? ''
      if (/(^|_)step_types?$/.test(key)) found.push(...textsIn(member).flatMap(stepTypeDoubt))
      else if (/(^|_)verbs?$/.test(key)) found.push(...textsIn(member).flatMap(verbDoubt))
      else if (/(^|_)fields?$|^property_path$/.test(key))
        found.push(...textsIn(member).flatMap(({ path, value }) => propertyDoubt(path, value, false)))
      else if (/(^|_)filter$/.test(key)) found.push(...filterDoubts(member))
      else pending.push(member)
    }
  }
  return found
}

function membersOf({ path, value }: Place): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).map(([key, member]) => ({ path: [...path, key], value: member }))
}

/** The value if it is text, and the texts in a list. */
function textsIn(place: Place): { path: readonly string[]; value: string }[] {
  const places = Array.isArray(place.value) ? membersOf(place) : [place]
  return places.flatMap(({ path, value }) => (typeof value === 'string' ? [{ path, value }] : []))
}

function filterDoubts(filter: Place): Doubt[] {
  return membersOf(filter).flatMap((member) => {
    const name = member.path.at(-1) ?? ''
    if (name === 'step_type') return textsIn(member).flatMap(stepTypeDoubt)
    if (name === 'verb') return textsIn(member).flatMap(verbDoubt)
    return propertyDoubt(member.path, name, true)
  })
}

function stepTypeDoubt({ path, value }: { path: readonly string[]; value: string }): Doubt[] {
  if (stepTypes.has(value)) return []
  const says = `names the step type ${quote(value)}, which no step of the engine has${didYouMean(value, stepTypes) || '; see `svc steps`'}`
  return [{ code: 'UNKNOWN_STEP_TYPE', path, at_key: false, says }]
}

function verbDoubt({ path, value }: { path: readonly string[]; value: string }): Doubt[] {
  if (knownVerbs.has(value)) return []
  const upper = value.toUpperCase()
  const hint = knownVerbs.has(upper) ? `; did you mean ${quote(upper)}?` : ''
  const says = `names the verb ${quote(value)}, which no step has: write one of ${verbs.join(', ')}${hint}`
  return [{ code: 'UNKNOWN_VERB', path, at_key: false, says }]
}

/** A path within the namespaces of the well-known properties that leads to none of them. */
function propertyDoubt(path: readonly string[], field: string, at_key: boolean): Doubt[] {
  const name = field.replace(/^properties\./, '')
  const segments = name.split('.')
  if (!namespaces.has(segments[0] ?? '') || isKnown(name)) return []
  const says = `names the property ${quote(name)}, which is not known${didYouMean(name, properties) || '; see `svc steps`'}`
  return [{ code: 'UNKNOWN_PROPERTY', path, at_key, says }]
}

/** A known property, a part of one, or what holds several. */
function isKnown(name: string): boolean {
  return [...properties].some(
    (known) =>
      known === name || known.startsWith(`${name}.`) || (known === 'content.trust_of' && name.startsWith(`${known}.`)),
  )
}
