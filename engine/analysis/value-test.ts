// Tests of the value of one field, with the functions of the engine that filters and rules use.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { compileAnchored } from '../pattern/pattern.js'
import { acceptor } from '../rules/selection/filter-value.js'
import { sameJson } from '../rules/values/members.js'
import { comparable } from '../rules/values/spelled.js'
import { textOf } from '../rules/values/text.js'
import { isNever } from './pattern-facts.js'

export interface ValueTest {
  /** True if a value passes, as the engine evaluates it; null is a missing value. */
  readonly accepts: (value: unknown) => boolean
  /** The condition for a list to pass: as any value does, when some element passes, or when every element does. */
  readonly lists: 'whole' | 'some' | 'every'
  /** The only values that pass, elements of lists included. */
  readonly choices?: readonly unknown[]
  /** Some values that pass, with the others an example of each kind. */
  readonly examples?: readonly unknown[]
  /** Numbers at which the answer changes. */
  readonly bounds?: readonly number[]
  readonly pattern?: string
  /** Descriptions of a value that passes, and of one that fails. */
  readonly words: readonly [is: string, is_not: string]
}

/** A test that the value passes, or with `negated` fails. */
export interface Condition {
  readonly test: ValueTest
  readonly negated: boolean
}

export function meets({ test, negated }: Condition, value: unknown): boolean {
  return test.accepts(value) !== negated
}

/** False only when every value of which this one is an example fails: what a text matches is open. */
export function couldMeet({ test, negated }: Condition, value: unknown): boolean {
  if (test.pattern === undefined) return meets({ test, negated }, value)
  if (negated) return true
  return !isNever(test.pattern) && [value, ...(Array.isArray(value) ? value : [])].some((one) => textOf(one) !== null)
}

/** Strict equality with a value of a list. */
export function isOneOf(choices: readonly unknown[]): ValueTest {
  const accepts = (value: unknown) => choices.some((choice) => sameJson(choice, value))
  return { accepts, lists: 'whole', choices, words: oneOfInWords(choices) }
}

/** A list passes when all its elements do; a missing value fails. */
export function isEveryOneOf(choices: readonly unknown[]): ValueTest {
  const isChoice = (value: unknown) => value !== null && choices.some((choice) => sameJson(choice, value))
  const accepts = (value: unknown) =>
    isChoice(value) || (Array.isArray(value) && value.length > 0 && value.every(isChoice))
  return { accepts, lists: 'every', choices, words: oneOfInWords(choices) }
}

export function matching(pattern: string): ValueTest {
  const isMatch = compileAnchored(pattern, 'pattern')
  const accepts = (value: unknown) => {
    const text = textOf(value)
    return text !== null && isMatch(text)
  }
  return { accepts, lists: 'whole', pattern, words: [`matches ${quote(pattern)}`, `does not match ${quote(pattern)}`] }
}

export function within(min: unknown, max: unknown): ValueTest {
  const [least, most] = [Number(min ?? Number.NEGATIVE_INFINITY), Number(max ?? Number.POSITIVE_INFINITY)]
  const accepts = (value: unknown) => typeof value === 'number' && value >= least && value <= most
  return { accepts, lists: 'whole', bounds: [least, most], words: rangeInWords(min, max) }
}

export const isPresent: ValueTest = {
  accepts: (value) => value !== null,
  lists: 'whole',
  words: ['is present', 'is missing'],
}

/** The conditions of a filter on one field. */
export function filterConditions(path: string, wanted: unknown): Condition[] {
  const passing = (test: ValueTest, own: unknown): Condition => {
    const accepts = safely(acceptor(path, own, 'filter'))
    return { test: { ...test, accepts, lists: 'some' }, negated: false }
  }
  const choicesIn = (own: unknown) =>
    (Array.isArray(own) ? own : [own]).map((one) =>
      path === 'step_type' && typeof one === 'string' ? canonicalType(one) : one,
    )
  const isMap = typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
  const { present, min, max, matches, not, ...others } = (isMap ? wanted : {}) as JsonMap
  if (!isMap || Object.keys(others).length === Object.keys(wanted as object).length)
    return [passing(isOneOf(choicesIn(wanted).map((one) => comparable(path, one))), wanted)]
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  return [
    ...(typeof present === 'boolean' ? [{ test: isPresent, negated: !present }] : []),
    ...(min === undefined && max === undefined ? [] : [passing(within(min, max), range)]),
    ...(typeof matches === 'string' ? [passing(matching(matches), { matches })] : []),
    ...(not === undefined ? [] : [{ test: isOneOf(choicesIn(not)), negated: true }]),
  ]
}

/** Text in the place of a number, which the engine calls ambiguous, fails. */
function safely(accepts: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => {
    try {
      return accepts(value)
    } catch {
      return false
    }
  }
}

function oneOfInWords(choices: readonly unknown[]): readonly [string, string] {
  if (choices.length === 2 && choices.includes('') && choices.includes(null)) return ['is empty', 'has a value']
  if (choices.length === 0) return ['is in an empty list', 'has any value']
  if (choices.length === 1) return [`is ${listed(choices)}`, `is not ${listed(choices)}`]
  return [`is one of ${listed(choices)}`, `is not one of ${listed(choices)}`]
}

function rangeInWords(min: unknown, max: unknown): readonly [string, string] {
  const parts = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])]
  const words = parts.length === 0 ? 'a number' : parts.join(' and ')
  return [`is ${words}`, `is not ${words}`]
}

/** Some values in backticks; text that could be mistaken for another value is in quotes. */
export function listed(values: readonly unknown[]): string {
  const isPlain = (value: unknown) => typeof value === 'string' && !/^(true|false|null|-?[0-9.]+|)$/.test(value)
  const shown = values.slice(0, 4).map((value) => quote(isPlain(value) ? String(value) : JSON.stringify(value)))
  return `${shown.join(', ')}${values.length > 4 ? ', …' : ''}`
}
