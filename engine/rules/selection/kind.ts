// The steps that a parameter means: a step type, or a selector. As a pattern, and as text.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { ParameterError } from '../../check/parameter-error.js'
import { quote } from '../../check/quote.js'
import type { Selector, StepKind } from '../form/params.js'
import type { Recorded, StepContext } from '../form/rule.js'
import { literal } from '../values/shown.js'
import { compilePattern, compileTarget, type StepPattern } from './filter.js'

/** The other parameters that narrow a step type; a selector has them as members. */
export interface Narrowing {
  readonly verb?: string | undefined
  readonly filter?: JsonMap | undefined
  /** Their names, for messages. */
  readonly named?: { readonly verb?: string; readonly filter?: string }
}

/** The pattern of a kind of step. Throws ParameterError when a selector has a verb or a filter beside it. */
export function kindPattern(kind: StepKind, { verb, filter, named = {} }: Narrowing = {}): StepPattern {
  if (typeof kind === 'string')
    return { step_types: [kind], verbs: verb === undefined ? undefined : [verb], ...(filter && { filter }) }
  const beside = verb !== undefined ? named.verb : filter !== undefined ? named.filter : undefined
  if (beside !== undefined)
    throw new ParameterError(beside, `is given beside a selector: write it in the selector, as ${insteadOf(verb)}`)
  return selectorPattern(kind)
}

function insteadOf(verb: string | undefined): string {
  return verb === undefined ? '`property_filter`' : '`verbs`'
}

export function selectorPattern({ step_types, verbs, step_names, property_filter }: Selector): StepPattern {
  return { step_types, verbs, step_names, ...(property_filter && { filter: property_filter }) }
}

/** The canonical step types that a kind names; undefined when it can be any. */
export function kindTypes(kind: StepKind): readonly string[] | undefined {
  return typeof kind === 'string' ? [kind] : kind.step_types
}

/** True if a recorded step is of the kind; `when_ambiguous` is the answer for a step with ambiguous fields. */
export function isOfKind(kind: StepKind, when_ambiguous: boolean, parameter: string): (recorded: Recorded) => boolean {
  if (typeof kind === 'string') {
    const type = canonicalType(kind)
    return (recorded) => recorded.type === type
  }
  const matches = compilePattern(selectorPattern(kind), when_ambiguous, parameter)
  return ({ step }) => matches(step)
}

/** True if an evaluated step is outside a selector; false for a step type, by which steps are selected before. */
export function outsideKind(kind: StepKind, parameter: string): (context: StepContext) => boolean {
  const isSuch = typeof kind === 'string' ? null : compileTarget(selectorPattern(kind), parameter)
  return (context) => isSuch !== null && !isSuch(context, context.step)
}

/** A text that is equal for equal kinds, for the keys of trackers. */
export function kindKey(kind: StepKind): string {
  return typeof kind === 'string' ? canonicalType(kind) : JSON.stringify(kind)
}

/** A pattern in words, such as `` a `step.message` POST step with `channel` `mail` ``. */
export function patternWords(pattern: StepPattern): string {
  return `a ${stepWords(pattern, 'step')}`
}

/** A pattern as a predecessor in words: a gate must have passed. */
export function wantedWords(pattern: StepPattern): string {
  if (!isGate(pattern)) return patternWords(pattern)
  return `a passed \`step.gate\`${nameWords(pattern)}${filterWords(pattern.filter)}`
}

/** A kind in words without an article, such as `` `step.model` steps ``. */
export function kindWords(kind: StepKind, noun: 'step' | 'steps'): string {
  return stepWords(kindPattern(kind), noun)
}

/** True if the pattern selects gates only. */
export function isGate({ step_types }: StepPattern): boolean {
  return step_types?.length === 1 && canonicalType(step_types[0] ?? '') === 'step.gate'
}

function stepWords(pattern: StepPattern, noun: string): string {
  const { step_types = [], verbs = [], filter } = pattern
  const types = step_types.length === 0 ? '' : `${step_types.map(quote).join(' or ')} `
  const verb = verbs.length === 0 ? '' : `${verbs.join(' or ')} `
  return `${types}${verb}${noun}${nameWords(pattern)}${filterWords(filter)}`
}

function nameWords({ step_names = [] }: StepPattern): string {
  return step_names.length === 0 ? '' : ` named ${step_names.map(quote).join(' or ')}`
}

function filterWords(filter: JsonMap = {}): string {
  const fields = Object.entries(filter).map(([path, wanted]) => {
    const condition = `\`${path}\`${valueWords(wanted)}`
    const content = path === 'content.trust' ? contentWords(wanted) : null
    return content === null ? condition : `${content} (${condition})`
  })
  return fields.length === 0 ? '' : ` with ${fields.join(' and ')}`
}

/** Whose content a filter selects, for readers who do not know the labels; null where no one word says it. */
function contentWords(wanted: unknown): string | null {
  const labels = Array.isArray(wanted) ? wanted : [wanted]
  if (labels.includes('own') && labels.every((label) => label === 'own' || label === null))
    return `content of the organization${labels.includes(null) ? ' or without a label' : ''}`
  return labels.every((label) => label === 'third_party' || label === 'public') ? 'content of others' : null
}

function valueWords(wanted: unknown): string {
  if (wanted === null) return ' missing'
  if (Array.isArray(wanted))
    return ` one of ${wanted.map((one) => (one === null ? 'missing' : literal(one))).join(', ')}`
  if (typeof wanted !== 'object') return ` ${literal(wanted)}`
  const { present, min, max, matches, not } = wanted as JsonMap
  return [
    present === false ? ' missing' : '',
    not === undefined ? '' : ` other than ${(Array.isArray(not) ? not : [not]).map(literal).join(', ')}`,
    min === undefined ? '' : ` at least ${min}`,
    max === undefined ? '' : ` at most ${max}`,
    matches === undefined ? '' : ` that matches ${literal(matches)}`,
  ].join('')
}
