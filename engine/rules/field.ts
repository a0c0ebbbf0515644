// Rules about one field of the step, or of the agent at its registration (docs/design/engine.md §3, 1–3).

import { canonicalType } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import { compileAnchored } from '../pattern/pattern.js'
import { fieldPath } from './form/params.js'
import {
  CannotEvaluate,
  type Check,
  defineRule,
  evidenceOf,
  PASS,
  type RuleContext,
  type Scope,
  type Violation,
} from './form/rule.js'
import { compileField, stepKeys } from './selection/lookup.js'
import { sameJson } from './values/members.js'
import { oneOf } from './values/shown.js'
import { textOf } from './values/text.js'

const scopes: readonly Scope[] = ['agent_registration', 'step_execution']
const field = {
  ...fieldPath,
  description: 'field path, such as `properties.target.host` or `risk_classification`',
} as const

export const fieldRules = [
  defineRule({
    name: 'field_not_empty',
    category: 'field',
    scopes,
    targets: true,
    params: { type: 'object', required: ['field'], additionalProperties: false, properties: { field } },
    stricter: { field: 'none' },
    doc: 'Passes when the value is neither null nor an empty string. An empty list passes.',
    example: { field: 'owner_id' },
    compile: (params) => {
      const get = compileField(params.field)
      const check = (context: RuleContext) => {
        const value = get(context)
        if (value !== null && value !== '') return PASS
        return violation(context, 'FIELD_EMPTY', `\`${params.field}\` is missing or empty`, `set \`${params.field}\``)
      }
      return withFact(check, `\`${params.field}\` is set`, `leave \`${params.field}\` out`)
    },
  }),
  defineRule({
    name: 'field_in_list',
    category: 'field',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['field', 'values'],
      additionalProperties: false,
      properties: {
        field,
        values: { type: 'array', description: 'allowed values, compared strictly: `1` is not `"1"`' },
      },
    },
    stricter: { field: 'none', values: 'fewer' },
    doc: 'Passes when the value, or each value of a list, strictly equals one of `values`. A missing value violates.',
    example: { field: 'environment', values: ['staging', 'production'] },
    compile: (params) => {
      const get = compileField(params.field)
      const values = params.values.map((value) =>
        params.field === 'step_type' && typeof value === 'string' ? canonicalType(value) : value,
      )
      const plain = new Set(values.filter((value) => typeof value !== 'object'))
      const deep = values.filter((value) => typeof value === 'object' && value !== null)
      const isAllowed = (value: unknown) =>
        value !== null && (plain.has(value) || deep.some((allowed) => sameJson(allowed, value)))
      const choices = params.values.filter((value) => value !== null)
      const words = listWords(params.field, choices)
      const check = (context: RuleContext) => {
        const value = get(context)
        if (isAllowed(value) || (Array.isArray(value) && value.length > 0 && value.every(isAllowed))) return PASS
        return violation(context, 'FIELD_NOT_IN_LIST', words.message(value), words.remedy)
      }
      return withFact(check, `\`${params.field}\` is ${oneOf(choices)}`, `set \`${params.field}\` to another value`)
    },
  }),
  defineRule({
    name: 'field_matches_regex',
    category: 'field',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['field', 'pattern'],
      additionalProperties: false,
      properties: {
        field,
        pattern: {
          type: 'string',
          maxLength: 1000,
          description: 'regular expression (RE2), anchored at the start only',
        },
      },
    },
    stricter: { field: 'none', pattern: 'none' },
    doc: 'Passes when the text of the value matches. Anchored at the start; dot matches newline; a list is joined.',
    example: { field: 'tool.digest', pattern: 'sha256:[0-9a-f]{64}$' },
    compile: (params) => {
      const get = compileField(params.field)
      const matches = compileAnchored(params.pattern, 'pattern')
      const pattern = `the pattern ${quote(params.pattern)}`
      const field = `\`${params.field}\``
      const missing = { message: `${field} is missing`, remedy: `set ${field} to text that matches ${pattern}` }
      const other = {
        message: `${field} does not match ${pattern}`,
        remedy: `change ${field} so that it matches ${pattern}`,
      }
      const check = (context: RuleContext) => {
        const value = get(context)
        const text = textOf(value)
        if (text === null && value !== null)
          throw new CannotEvaluate(
            violation(context, 'NOT_TEXT', `\`${params.field}\` has no text`, `set \`${params.field}\` to text`),
          )
        if (text !== null && matches(text)) return PASS
        const { message, remedy } = text === null ? missing : other
        return violation(context, 'FIELD_NO_MATCH', message, remedy)
      }
      return withFact(check, `${field} matches ${pattern}`, `change ${field} so that it does not match ${pattern}`)
    },
  }),
  defineRule({
    name: 'field_in_range',
    category: 'field',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['field'],
      additionalProperties: false,
      properties: {
        field,
        min: { type: 'number', description: 'lowest value, inclusive; default no limit. Give `min`, `max` or both' },
        max: { type: 'number', description: 'highest value, inclusive; default no limit. Give `min`, `max` or both' },
      },
    },
    stricter: { field: 'none', min: 'higher', max: 'lower' },
    doc: 'Passes when the value is a finite number from `min` to `max`. Any other value, or a missing one, violates.',
    example: { field: 'input.amount', min: 0, max: 500, target_step_names: ['refund'] },
    compile: ({ field: path, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }) => {
      if (min === Number.NEGATIVE_INFINITY && max === Number.POSITIVE_INFINITY)
        throw new ParameterError('', 'give `min` or `max`, or both')
      if (min > max)
        throw new ParameterError('max', `\`max\` ${max} is below \`min\` ${min}: no number is in this range`)
      const get = compileField(path)
      const limits = [
        ...(Number.isFinite(min) ? [`at least ${min}`] : []),
        ...(Number.isFinite(max) ? [`at most ${max}`] : []),
      ]
      const remedy = `set \`${path}\` to a number of ${limits.join(' and ')}`
      const range = limits.length === 2 ? `${min} to ${max}` : limits.join('')
      const check = (context: RuleContext) => {
        const value = get(context)
        if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max) return PASS
        const problem =
          value === null ? 'is missing' : typeof value === 'number' ? `is out of range (${range})` : 'is not a number'
        return violation(context, 'FIELD_NOT_IN_RANGE', `\`${path}\` ${problem}`, remedy)
      }
      return withFact(check, `\`${path}\` is a number of ${limits.join(' and ')}`, `set \`${path}\` to another value`)
    },
  }),
  defineRule({
    name: 'length_at_most',
    category: 'field',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['field', 'max'],
      additionalProperties: false,
      properties: {
        field,
        max: { type: 'integer', minimum: 0, description: 'elements, members or characters, inclusive' },
      },
    },
    stricter: { field: 'none', max: 'lower' },
    doc: 'Passes when a list has at most `max` elements, a map that many members, and text or a number that many characters. A missing value passes.',
    example: { field: 'input.recipients', max: 5, target_step_names: ['send_mail'] },
    compile: ({ field: path, max }) => {
      const get = compileField(path)
      return (context) => {
        const value = get(context)
        if (value === null) return PASS
        const length = lengthOf(value)
        if (length <= max) return PASS
        const unit = typeof value === 'object' ? 'elements' : 'characters'
        const message = `\`${path}\` has ${length} ${unit}, at most ${max} are allowed`
        return violation(context, 'TOO_LONG', message, `shorten \`${path}\` to at most ${max} ${unit}`)
      }
    },
  }),
]

/** Elements of a list, members of a map, or characters of the text of another value. */
function lengthOf(value: unknown): number {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length
  return [...String(value)].length
}

/** Fields whose values are words of the vocabulary, which a message may quote. */
const vocabulary = /^(?:verb|step_type|(?:(?:agent|context)\.)?risk_classification)$/

/** The fault of a value that is not in a list, and the remedy. A list of nothing but null allows no value. */
function listWords(field: string, choices: readonly unknown[]) {
  if (choices.length === 0)
    return { message: () => `\`${field}\` is not an allowed value`, remedy: 'change the policy: it allows no value' }
  const wanted = oneOf(choices)
  const [missing, other] = [`\`${field}\` is missing`, `\`${field}\` is not ${wanted}`]
  const isVocabulary = vocabulary.test(field)
  // A property and the registration state facts about the world: they must not be stated because a policy asks for them.
  const isStatement = !stepKeys.has(field.split('.')[0] ?? '')
  const ifTrue = choices.length === 1 ? ', if that is so' : ', if one of them is true'
  return {
    message: (value: unknown) => {
      if (value === null) return missing
      return isVocabulary && typeof value === 'string' ? `\`${field}\` is ${quote(value)}, not ${wanted}` : other
    },
    remedy: `set \`${field}\` to ${wanted}${isStatement ? ifTrue : ''}`,
  }
}

function withFact(check: Check, fact: string, undo: string): Check {
  return Object.assign(check, { because: () => ({ evidence: [], fact, undo }) })
}

function violation(context: RuleContext, code: string, message: string, remedy: string): Violation {
  return { code, message, evidence: context.step === null ? [] : [evidenceOf(context.step)], remedy }
}
