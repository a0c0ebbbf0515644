// The condition of a filter on one field.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { ParameterError } from '../../check/parameter-error.js'
import { compileAnchored } from '../../pattern/pattern.js'
import { notANumber, sameJson } from '../values/members.js'
import { comparable, compileComparable, isSameScalar, isUnclearNumber, numberIn } from '../values/spelled.js'
import { textOf } from '../values/text.js'

type Accepts = (value: unknown) => boolean

/**
 * A test for the values that a condition accepts. Equality ignores how a value is spelled (spelled.ts), that of `{not}` is strict;
 * a list means one of; null means missing; `{present}`, `{min, max}`, `{matches}` and `{not}` are operators. Where the value in
 * the step is a list, one of its elements is enough. Step types are compared by their canonical names. Throws ParameterError for
 * an invalid condition; the test throws AmbiguousField for text in the place of a number.
 */
export function acceptor(path: string, wanted: unknown, parameter: string): Accepts {
  const given = operatorsIn(wanted)
  if (given === null) return equalToOne(path, Array.isArray(wanted) ? wanted : [wanted])
  const reject = (message: string): never => {
    throw new ParameterError(parameter, `\`${path}\`: ${message}`)
  }
  const unknown = Object.keys(given).find((key) => !operators.includes(key))
  if (unknown !== undefined)
    reject(`unknown condition \`${unknown}\`; write \`present\`, \`min\`, \`max\`, \`matches\` or \`not\``)
  const conditions = [
    ...presence(given, reject),
    ...range(path, given, reject),
    ...match(given, parameter, reject),
    ...exclusion(path, given),
  ]
  return (value) => conditions.every((accepts) => accepts(value))
}

const operators = ['present', 'min', 'max', 'matches', 'not']

function operatorsIn(wanted: unknown): JsonMap | null {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return null
  return Object.keys(wanted).some((key) => operators.includes(key)) ? (wanted as JsonMap) : null
}

function equalToOne(path: string, wanted: readonly unknown[]): Accepts {
  const choices = comparableChoices(path, wanted).map((choice) => comparable(path, choice))
  const fold = compileComparable(path)
  const accepts_missing = choices.includes(null)
  const isChoice = (value: unknown) => {
    // Most steps lack the field.
    if (value === null) return accepts_missing
    const compared = fold === null ? value : fold(value)
    return choices.some((choice) => choice === compared || sameJson(choice, compared) || isSameScalar(choice, compared))
  }
  // A null element is not a missing field.
  const isListed = (value: unknown) => value !== null && isChoice(value)
  return (value) => isChoice(value) || (Array.isArray(value) && value.some(isListed))
}

function comparableChoices(path: string, wanted: readonly unknown[]): readonly unknown[] {
  return wanted.map((choice) => (path === 'step_type' && typeof choice === 'string' ? canonicalType(choice) : choice))
}

/** Accepts every other value, a missing one and a list included. */
function exclusion(path: string, { not }: JsonMap): Accepts[] {
  if (not === undefined) return []
  const choices = comparableChoices(path, Array.isArray(not) ? not : [not])
  return [(value) => !choices.some((choice) => sameJson(choice, value))]
}

function presence({ present }: JsonMap, reject: (message: string) => never): Accepts[] {
  if (present === undefined) return []
  if (typeof present !== 'boolean') reject('`present` must be true or false')
  return [(value) => (value !== null) === present]
}

function range(path: string, { min, max }: JsonMap, reject: (message: string) => never): Accepts[] {
  const limits = Object.entries({ min, max }).filter(([, limit]) => limit !== undefined)
  const wrong = limits.find(([, limit]) => typeof limit !== 'number')
  if (wrong !== undefined) reject(`\`${wrong[0]}\` must be a number`)
  const least = typeof min === 'number' ? min : Number.NEGATIVE_INFINITY
  const most = typeof max === 'number' ? max : Number.POSITIVE_INFINITY
  const isWithin = (value: unknown) => {
    if (value === null) return false
    // A limit that text such as `1,000` evades would be none.
    if (isUnclearNumber(value)) throw notANumber(path)
    const number = numberIn(value)
    return number !== undefined && number >= least && number <= most
  }
  return limits.length === 0 ? [] : [(value) => isWithin(value) || (Array.isArray(value) && value.some(isWithin))]
}

function match({ matches }: JsonMap, parameter: string, reject: (message: string) => never): Accepts[] {
  if (matches === undefined) return []
  if (typeof matches !== 'string') return reject('`matches` must be a pattern')
  const isMatch = compileAnchored(matches, parameter)
  const hasText = (value: unknown) => {
    const text = textOf(value)
    return text !== null && isMatch(text)
  }
  return [(value) => hasText(value) || (Array.isArray(value) && value.some(hasText))]
}
