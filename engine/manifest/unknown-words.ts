// Step types, verbs and properties in parameters that no vocabulary has: such a policy loads and never applies.

import { type JsonMap, type Manifest, propertyWords, stepAliases, stepWords, verbs } from '@svc/schemas'
import { didYouMean } from '../check/nearest.js'
import { quote } from '../check/quote.js'

export interface UnknownWord {
  readonly id: 'unknown-step-type' | 'unknown-verb' | 'unknown-property'
  /** Relative to the `params` of the policy. */
  readonly path: readonly string[]
  /** True when the word is the name of the last member. */
  readonly at_key: boolean
  /** The rest of a sentence; its subject is the value at the path. */
  readonly predicate: string
}

const stepTypes = new Set<string>([...stepWords.map(({ step_type }) => step_type), ...Object.keys(stepAliases)])
const knownVerbs = new Set<string>(verbs)
const properties = new Set(propertyWords.map(({ name }) => name))
const namespaces = new Set(propertyWords.map(({ name }) => name.slice(0, name.indexOf('.'))))

type ManifestTest = NonNullable<Manifest['tests']>[number]

interface Located {
  readonly path: readonly string[]
  readonly value: unknown
}

/** The step types in the steps of a test that are in no vocabulary. Its verbs are checked as errors. */
export function unknownWordsInTest({ history = [], step }: ManifestTest): UnknownWord[] {
  const steps = [
    ...history.map((past, index) => ({ path: ['history', `${index}`, 'step_type'], value: past.step_type })),
    ...(step === undefined ? [] : [{ path: ['step', 'step_type'], value: step.step_type }]),
  ]
  return steps.flatMap(unknownStepType)
}

/** The words in parameters, at any depth, that are in no vocabulary. */
export function unknownWordsIn(params: JsonMap): UnknownWord[] {
  const found: UnknownWord[] = []
  const pending: Located[] = [{ path: [], value: params }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const member of membersOf(next)) {
      const key = member.path.at(-1) ?? ''
      if (/(^|_)step_types?$/.test(key)) {
        found.push(...textsIn(member).flatMap(unknownStepType))
        // A selector instead of a step type has words of its own.
        if (!Array.isArray(member.value)) pending.push(member)
      } else if (/(^|_)verbs?$/.test(key)) found.push(...textsIn(member).flatMap(unknownVerb))
      else if (/(^|_)fields?$|^property_path$/.test(key))
        found.push(...textsIn(member).flatMap(({ path, value }) => unknownProperty(path, value, false)))
      else if (/(^|_)filter$/.test(key)) found.push(...unknownInFilter(member))
      else pending.push(member)
    }
  }
  return found
}

function membersOf({ path, value }: Located): Located[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).map(([key, member]) => ({ path: [...path, key], value: member }))
}

/** The value if it is text, and the texts in a list. */
function textsIn(located: Located): { path: readonly string[]; value: string }[] {
  const values = Array.isArray(located.value) ? membersOf(located) : [located]
  return values.flatMap(({ path, value }) => (typeof value === 'string' ? [{ path, value }] : []))
}

function unknownInFilter(filter: Located): UnknownWord[] {
  return membersOf(filter).flatMap((member) => {
    const name = member.path.at(-1) ?? ''
    if (name === 'step_type') return textsIn(member).flatMap(unknownStepType)
    if (name === 'verb') return textsIn(member).flatMap(unknownVerb)
    return unknownProperty(member.path, name, true)
  })
}

function unknownStepType({ path, value }: { path: readonly string[]; value: string }): UnknownWord[] {
  if (stepTypes.has(value)) return []
  const predicate = `names the unknown step type ${quote(value)}${didYouMean(value, stepTypes) || '; see `svc steps`'}`
  return [{ id: 'unknown-step-type', path, at_key: false, predicate }]
}

function unknownVerb({ path, value }: { path: readonly string[]; value: string }): UnknownWord[] {
  if (knownVerbs.has(value)) return []
  const upper = value.toUpperCase()
  const hint = knownVerbs.has(upper) ? `; did you mean ${quote(upper)}?` : ''
  const predicate = `names the unknown verb ${quote(value)}: write one of ${verbs.join(', ')}${hint}`
  return [{ id: 'unknown-verb', path, at_key: false, predicate }]
}

/** A path within the namespaces of the well-known properties that names none of them. */
function unknownProperty(path: readonly string[], field: string, at_key: boolean): UnknownWord[] {
  const name = field.replace(/^properties\./, '')
  const segments = name.split('.')
  if (!namespaces.has(segments[0] ?? '') || isKnown(name)) return []
  const predicate = `names the unknown property ${quote(name)}${didYouMean(name, properties) || '; see `svc steps`'}`
  return [{ id: 'unknown-property', path, at_key, predicate }]
}

/** True for a known property, a part of one, or a namespace of several. */
function isKnown(name: string): boolean {
  return [...properties].some(
    (known) =>
      known === name || known.startsWith(`${name}.`) || (known === 'content.trust_of' && name.startsWith(`${known}.`)),
  )
}
