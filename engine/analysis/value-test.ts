// Tests of the value of one field, as filters and rules make them (engine/rules/filter-value.ts, field.ts).
import { canonicalType } from '@svc/schemas'
import { compileAnchored, type Matcher } from '../pattern/pattern.js'
import { sameJson } from '../rules/members.js'
import { comparable, isSameScalar, numberIn } from '../rules/spelled.js'
import { textOf } from '../rules/text.js'
import { factsOf, type PatternFacts } from './pattern-facts.js'

/** `lists`: how a list passes: as any value does, when some element passes, or when every element does. */
export type ValueTest =
  | { readonly op: 'one_of'; readonly values: readonly unknown[]; readonly lists: 'whole' | 'some' | 'every' }
  | { readonly op: 'within'; readonly min: number; readonly max: number; readonly lists: 'whole' | 'some' }
  | { readonly op: 'present' }
  | {
      readonly op: 'matches'
      readonly pattern: string
      readonly match: Matcher
      readonly facts: PatternFacts
      readonly lists: 'whole' | 'some'
    }

/** A test that the value passes, or with `negated` fails. */
export interface Condition {
  readonly test: ValueTest
  readonly negated: boolean
}

export function meets({ test, negated }: Condition, value: unknown): boolean {
  return holds(test, value) !== negated
}

/** Whether a value passes the test, as the engine evaluates it; null is a missing value. */
export function holds(test: ValueTest, value: unknown): boolean {
  switch (test.op) {
    case 'one_of':
      return isListed(test, value)
    case 'within':
      return isWithin(test, value) || (test.lists === 'some' && someElement(value, (one) => isWithin(test, one)))
    case 'present':
      return value !== null
    case 'matches':
      return hasText(test, value) || (test.lists === 'some' && someElement(value, (one) => hasText(test, one)))
  }
}

type OneOf = Extract<ValueTest, { readonly op: 'one_of' }>

function isListed({ values, lists }: OneOf, value: unknown): boolean {
  // Conditions of filters accept other spellings (engine/rules/spelled.ts).
  const isChoice = (one: unknown) =>
    values.some((choice) => sameJson(choice, one) || (lists === 'some' && isSameScalar(choice, one)))
  const isValue = (one: unknown) => one !== null && isChoice(one)
  if (lists === 'every') return isValue(value) || (Array.isArray(value) && value.length > 0 && value.every(isValue))
  return isChoice(value) || (lists === 'some' && someElement(value, isValue))
}

function someElement(value: unknown, passes: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.some(passes)
}

function isWithin({ min, max, lists }: Extract<ValueTest, { readonly op: 'within' }>, value: unknown): boolean {
  const number = lists === 'some' ? numberIn(value) : value
  return typeof number === 'number' && number >= min && number <= max
}

function hasText({ match }: { readonly match: Matcher }, value: unknown): boolean {
  const text = textOf(value)
  return text !== null && match(text)
}

/** Strict equality with a value of a list; a list passes when all its elements do. */
export function isOneOf(values: readonly unknown[], lists: OneOf['lists']): ValueTest {
  return { op: 'one_of', values, lists }
}

export function matching(pattern: string, lists: 'whole' | 'some'): ValueTest {
  return { op: 'matches', pattern, match: compileAnchored(pattern, 'pattern'), facts: factsOf(pattern, true), lists }
}

/** The conditions of a filter on one field (engine/rules/filter-value.ts). */
export function filterConditions(path: string, wanted: unknown): Condition[] {
  const named = (values: readonly unknown[]) =>
    path === 'step_type' ? values.map((one) => (typeof one === 'string' ? canonicalType(one) : one)) : values
  const spelled = (values: readonly unknown[]) => values.map((one) => comparable(path, one))
  const listOf = (value: unknown) => named(Array.isArray(value) ? value : [value])
  const conditions = operatorsIn(wanted)
  if (conditions === null) return [{ test: isOneOf(spelled(listOf(wanted)), 'some'), negated: false }]
  const { present, min, max, matches, not } = conditions
  const found: Condition[] = []
  if (typeof present === 'boolean') found.push({ test: { op: 'present' }, negated: !present })
  if (min !== undefined || max !== undefined) found.push({ test: within(min, max, 'some'), negated: false })
  if (typeof matches === 'string') found.push({ test: matching(matches, 'some'), negated: false })
  if (not !== undefined) found.push({ test: isOneOf(listOf(not), 'whole'), negated: true })
  return found
}

export function within(min: unknown, max: unknown, lists: 'whole' | 'some'): ValueTest {
  const least = typeof min === 'number' ? min : Number.NEGATIVE_INFINITY
  return { op: 'within', min: least, max: typeof max === 'number' ? max : Number.POSITIVE_INFINITY, lists }
}

const operators = ['present', 'min', 'max', 'matches', 'not']

function operatorsIn(wanted: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return null
  return Object.keys(wanted).some((key) => operators.includes(key)) ? (wanted as Record<string, unknown>) : null
}
