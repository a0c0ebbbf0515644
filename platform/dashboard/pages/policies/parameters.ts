// The parameters of a rule as fields of a form: which field the schema of a parameter needs, and values from and to texts.

import { capitalized } from '@svc/engine/parts'
import { lineAndColumn, parseSentPolicy } from '@svc/proof'
import { type JsonMap, type Rule, verbs } from '@svc/schemas'
import type { FieldError } from '../../../errors.js'
import type { FormField } from '../../views/fields.js'
import type { Fields } from '../../visit.js'

/** A parameter of a rule with the field of the form. */
export interface Parameter {
  readonly name: string
  readonly schema: JsonMap
  readonly field: FormField
  /** It selects the steps that the policy applies to. */
  readonly is_target: boolean
}

/** The parameters in the order of the schema. */
export function parametersOf({ params, example }: Rule): Parameter[] {
  const { properties = {}, required = [] } = params as { properties?: Record<string, JsonMap>; required?: string[] }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    field: fieldOf(name, schema, required.includes(name), example[name]),
    is_target: name.startsWith('target_'),
  }))
}

/** `max_age_steps` as `Max age steps`, and `target_verb` as `Verb`. */
export function labelOf(name: string): string {
  return capitalized(name.replace(/^target_(?!node)/, '').replaceAll('_', ' '))
}

/** A description of the schema as a sentence. */
export function hintOf(description: string): string {
  return description === '' ? '' : `${capitalized(description)}.`
}

function fieldOf(name: string, schema: JsonMap, required: boolean, example: unknown): FormField {
  const kind = kindOf(schema)
  const known = wordsIn(schema)
  const values = known.map((word) => [word, labels[word] ?? word] as const)
  const unset = required ? [] : [['', 'not set'] as const]
  return {
    name: `params.${name}`,
    label: labelOf(name),
    kind,
    required,
    hint: [hintOf(String(schema.description ?? '')), howToWrite(schema, kind, example)].join(' ').trim(),
    ...(kind === 'choice' && { values: [...unset, ...values] }),
    ...(kind === 'checks' && { values }),
    ...(kind === 'line' && proposes.has(schema['x-editor']) && { words: 'step-types' }),
  }
}

const proposes: ReadonlySet<unknown> = new Set(['step_type', 'step_kind'])
const labels: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

function kindOf(schema: JsonMap): FormField['kind'] {
  const { type } = schema
  if (type === 'array') return wordsIn(schema).length > 0 ? 'checks' : isOfObjects(schema) ? 'json' : 'lines'
  if (wordsIn(schema).length > 0) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'object' ? 'json' : 'line'
}

/** The only values that a parameter can have, or that its elements can have. */
function wordsIn({ type, enum: values, items, 'x-editor': editor }: JsonMap): string[] {
  if (type === 'boolean') return ['true', 'false']
  if (type === 'string' && editor === 'verb') return [...verbs]
  const element = items as JsonMap | undefined
  if (element?.['x-editor'] === 'verb') return [...verbs]
  const known = values ?? element?.enum ?? []
  return (known as readonly unknown[]).map(String)
}

function isOfObjects({ items }: JsonMap): boolean {
  return (items as JsonMap | undefined)?.type === 'object'
}

/** Values of parameters that few examples of rules have. */
const examples: Readonly<Record<string, unknown>> = {
  selector: { step_types: ['step.gate'] },
  filter: { 'target.trust': 'external' },
}

function howToWrite(schema: JsonMap, kind: FormField['kind'], example: unknown): string {
  const shown = example ?? examples[String(schema['x-editor'])]
  if (kind === 'json') return shown === undefined ? 'Write JSON.' : `Write JSON, such as \`${JSON.stringify(shown)}\`.`
  if (kind !== 'lines') return ''
  return schema.items === undefined
    ? 'One per line; a text that looks like a number in quotes, such as `"1"`.'
    : 'One per line.'
}

/** The values of a policy as texts of the fields. */
export function textsOf({ schema, field }: Parameter, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (field.kind === 'checks') return (value as readonly unknown[]).map(String)
  if (field.kind === 'json' || (field.kind === 'lines' && !isOfLines(value))) return [JSON.stringify(value, null, 2)]
  if (field.kind === 'lines') return [(value as readonly unknown[]).map((one) => lineOf(schema, one)).join('\n')]
  return [typeof value === 'string' ? value : JSON.stringify(value)]
}

/** True if each element fits on a line; else the list is shown as JSON. */
function isOfLines(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one !== 'string' || /^[^\r\n]*\S[^\r\n]*$/.test(one))
}

function lineOf({ items }: JsonMap, element: unknown): string {
  if (typeof element !== 'string') return JSON.stringify(element)
  return items === undefined && readScalar(element) !== element ? JSON.stringify(element) : element
}

/** The parameters that a form has, without those left empty, and texts that are not JSON. */
export function paramsIn(parameters: readonly Parameter[], form: Fields): { params: JsonMap; errors: FieldError[] } {
  const errors: FieldError[] = []
  const read = parameters.flatMap(({ name, schema, field }) => {
    const texts = (form[field.name] ?? []).map((text) => text.replaceAll('\r\n', '\n'))
    const text = texts[0] ?? ''
    if (text.trim() === '') return []
    if (field.kind === 'checks') return [[name, texts]]
    const isObject = field.kind === 'line' && Array.isArray(schema.type) && text.trimStart().startsWith('{')
    if (field.kind !== 'json' && !isObject) return [[name, valueIn(schema, field.kind, text)]]
    const { value, error } = jsonIn(field.name, text)
    if (error !== null) errors.push(error)
    return [[name, value]]
  })
  return { params: Object.fromEntries(read), errors }
}

/** A text that is not a number stays a text: the API then names what the parameter must be. */
function valueIn(schema: JsonMap, kind: FormField['kind'], text: string): unknown {
  if (kind === 'lines') return elementsIn(schema, text)
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return kind === 'number' && Number.isFinite(Number(text)) ? Number(text) : text
}

function elementsIn({ items }: JsonMap, text: string): readonly unknown[] {
  const type = (items as JsonMap | undefined)?.type
  const whole = text.trimStart().startsWith('[') ? parseSentPolicy(text) : null
  const list = whole?.problem === null ? whole.value : null
  // A pattern such as `[0]` is a line of texts, and not a list of numbers.
  if (Array.isArray(list) && (type !== 'string' || list.every((one) => typeof one === 'string'))) return list
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (type === 'string') return lines
  return lines.map((line) =>
    items === undefined ? readScalar(line) : line.trimStart().startsWith('{') ? readScalar(line) : line,
  )
}

/** The JSON of a line; the line itself if it is not JSON. */
function readScalar(line: string): unknown {
  const reading = parseSentPolicy(line)
  return reading.problem === null ? reading.value : line
}

/** The value of a field with JSON. */
export function jsonIn(path: string, text: string): { value: unknown; error: FieldError | null } {
  const reading = parseSentPolicy(text)
  if (reading.problem === null) return { value: reading.value, error: null }
  const { problem } = reading
  const { line, column } = lineAndColumn(text, problem.offset ?? 0)
  return {
    value: null,
    error: { path, message: `${problem.message} at line ${line}, column ${column}` },
  }
}
