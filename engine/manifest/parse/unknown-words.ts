// Step types, verbs and properties in parameters that no vocabulary has: such a policy loads and never applies.

import { type JsonMap, type Manifest, propertyWords, stepAliases, stepWords, verbs } from '@svc/schemas'
import { didYouMean, nearest } from '../../check/nearest.js'
import { quote, tidy } from '../../check/quote.js'
import { stepKeys } from '../../rules/selection/lookup.js'

export interface UnknownWord {
  readonly id: 'unknown-step-type' | 'unknown-verb' | 'unknown-property' | 'unknown-field' | 'wildcard-name'
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

type Policy = Manifest['policies'][number]
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
export function unknownWordsIn(params: JsonMap, scope: Policy['scope'] = 'step_execution'): UnknownWord[] {
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
        found.push(...textsIn(member).flatMap(({ path, value }) => unknownField(path, value, key === 'agent_field')))
      else if (/(^|_)names$/.test(key)) found.push(...textsIn(member).flatMap(wildcard))
      else if (/(^|_)filter$/.test(key)) found.push(...unknownInFilter(member))
      else pending.push(member)
    }
  }
  // At registration a field is one of the agent.
  return scope === 'agent_registration' ? found.filter(({ id }) => id !== 'unknown-field') : found
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

/** A name is compared exactly. */
function wildcard({ path, value }: { path: readonly string[]; value: string }): UnknownWord[] {
  if (!value.includes('*')) return []
  return [
    {
      id: 'wildcard-name',
      path,
      at_key: false,
      predicate: `is compared exactly, found ${quote(value)}: list the names`,
    },
  ]
}

/** The first words of fields: parts of a step, other facts, and namespaces of well-known properties. */
const roots = new Set([...stepKeys, 'context', 'agent', ...namespaces])

/** Fields of the agent that authors write without `agent`, as at its registration. */
const agentFields = new Set(['agent_key', 'declared_tools', 'environment', 'owner_id', 'risk_classification'])

/** A field of a step that begins with none of its parts: it is read from the properties, where it probably is not. */
function unknownField(path: readonly string[], field: string, of_agent: boolean): UnknownWord[] {
  const [first = '', ...rest] = field.split('.')
  if (of_agent || roots.has(first)) return unknownProperty(path, field, false)
  const near = agentFields.has(first) ? null : nearest(first, roots)
  const part = agentFields.has(first) ? 'agent' : 'input'
  const meant = near === null ? `${part}.${field}` : [near, ...rest].join('.')
  const own = near === null ? ` A property of your own is \`properties.${first}\`` : ''
  const predicate = `is not a field of a step, found ${quote(field)}; did you mean ${quote(meant)}?${own}`
  return [{ id: 'unknown-field', path, at_key: false, predicate: tidy(predicate) }]
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
