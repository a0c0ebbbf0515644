// Checks values against JSON Schemas, with messages that name the field and the correction. The only user of Ajv.

import { hiddenCharacter, isRfc3339, isStepType, type JsonMap, parseTimestamp, textFormats } from '@svc/schemas'
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { need } from './need.js'
import { quote } from './quote.js'
import { type Dialect, predicateOf, suggestionFor, unknownKey } from './schema-words.js'

/** The fault of a value: a required key is missing, a key is unknown, or its type or value is not accepted. */
export type SchemaFault = 'missing' | 'unknown' | 'type' | 'value'

export interface SchemaProblem {
  /** By default its value. */
  readonly fault?: SchemaFault
  /** Member names and array indexes that lead to the value. */
  readonly path: readonly string[]
  /** True when the name of the last member is wrong rather than its value. */
  readonly at_key: boolean
  /** The message for an answer that also has the path; it names a missing or unknown key. */
  readonly message: string
  /** The same as subject and predicate, for a message that names the whole path. */
  readonly sentence?: { readonly subject: readonly string[]; readonly predicate: string }
}

export type SchemaCheck = (value: unknown) => readonly SchemaProblem[]

/** Checks for schemas that refer to each other by `$id`; each is compiled at its first use, then kept. */
export function createChecker(schemas: Iterable<JsonMap>, dialect: Dialect = 'json'): (id: string) => SchemaCheck {
  const ajv = newAjv()
  for (const schema of schemas) ajv.addSchema(schema)
  return (id) => {
    const validate = ajv.getSchema(id)
    if (validate === undefined) throw new Error(`no schema \`${id}\``)
    return checkWith(validate, dialect)
  }
}

/** A check for one schema that refers to no other, compiled at its first use. */
export function lazyCheck(schema: JsonMap, dialect: Dialect = 'json'): SchemaCheck {
  let check: SchemaCheck | undefined
  return (value) => {
    check ??= checkWith(newAjv().compile(schema), dialect)
    return check(value)
  }
}

function newAjv(): Ajv2020 {
  // The schemas are part of this project. Checking them against the meta-schema took most of each start.
  const { Ajv2020 } = need('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, validateSchema: false })
  for (const format of textFormats)
    ajv.addFormat(format, { type: 'string', validate: (text: string) => hiddenCharacter(text, format) === null })
  ajv.addFormat('date-time', { type: 'string', validate: isRfc3339 })
  ajv.addFormat('step-type', { type: 'string', validate: isStepType })
  return ajv.addFormat('iso-8601', { type: 'string', validate: (text: string) => parseTimestamp(text) !== null })
}

/** The maximum number of errors that are explained: each takes a search for the key that was meant. */
const maxErrors = 1000

function checkWith(validate: ValidateFunction, dialect: Dialect): SchemaCheck {
  return (value) => {
    if (validate(value)) return []
    const errors = (validate.errors ?? []).filter((error) => !isSummary(error))
    const chosen = oneForEach(errors).slice(0, maxErrors)
    return (dialect === 'yaml' ? withoutRenamed(chosen) : chosen).map((error) => explain(error, dialect))
  }
}

/** True for an error that others explain: those of the forms of which none is matched. */
function isSummary({ keyword, params }: ErrorObject): boolean {
  if (keyword === 'oneOf') return (params as { passingSchemas: unknown }).passingSchemas === null
  return keyword === 'anyOf' || keyword === 'if'
}

/** The member that excludes another one, where forms that require each one member are both matched; null otherwise. */
function excludedMember({ keyword, params, schema }: ErrorObject): { name: string; other: string } | null {
  if (keyword !== 'oneOf' || !Array.isArray(schema)) return null
  const { passingSchemas } = params as { passingSchemas: readonly number[] | null }
  const [other, name] = (passingSchemas ?? []).map((index) => (schema[index] as { required?: string[] }).required?.[0])
  return name === undefined || other === undefined ? null : { name, other }
}

/** One error for each value, because a value of the wrong type violates other keywords too. An `enum` is the most specific. */
function oneForEach(errors: readonly ErrorObject[]): ErrorObject[] {
  const chosen = new Map<string, ErrorObject>()
  for (const error of errors) {
    const key = subjectOf(error).join('\0')
    const known = chosen.get(key)
    if (known === undefined || rankOf(error) < rankOf(known)) chosen.set(key, error)
    else if (known.keyword === 'type' && error.keyword === 'type') chosen.set(key, withBothTypes(known, error))
  }
  return [...chosen.values()]
}

/** Leaves out a missing key where an unknown key beside it is this key misspelt: one slip, one error, at the key itself. */
function withoutRenamed(errors: readonly ErrorObject[]): ErrorObject[] {
  const suggested = errors.flatMap(({ keyword, instancePath, params, parentSchema }) => {
    if (keyword !== 'additionalProperties') return []
    const near = suggestionFor(String((params as JsonMap).additionalProperty), (parentSchema ?? {}) as JsonMap)
    return near === null ? [] : [`${instancePath}/${near}`]
  })
  const isRenamed = ({ instancePath, params }: ErrorObject) =>
    suggested.includes(`${instancePath}/${(params as JsonMap).missingProperty}`)
  return errors.filter((error) => error.keyword !== 'required' || !isRenamed(error))
}

/** If several forms are accepted, the errors of the form whose type the value has come first. */
function rankOf({ keyword, parentSchema, data }: ErrorObject): number {
  const isOfForm = Array.isArray(data) && (parentSchema as JsonMap | undefined)?.type === 'array'
  if (isOfForm && keyword !== 'type') return 0
  return keyword === 'enum' || keyword === 'const' ? 1 : keyword === 'type' ? 2 : 3
}

/** The accepted types of several forms in one error. */
function withBothTypes(known: ErrorObject, other: ErrorObject): ErrorObject {
  const types = [known, other].flatMap(({ params }) => [(params as { type: string | string[] }).type].flat())
  return { ...known, params: { type: [...new Set(types)] } }
}

function explain(error: ErrorObject, dialect: Dialect): SchemaProblem {
  const subject = subjectOf(error)
  const excluded = excludedMember(error)
  const predicate =
    excluded === null ? predicateOf(error, dialect) : `cannot be given together with ${quote(excluded.other)}`
  const at_key = error.keyword === 'additionalProperties'
  const missing = error.keyword === 'required'
  const path = missing ? subject.slice(0, -1) : subject
  const name = subject.at(-1) ?? ''
  const message = at_key
    ? unknownKey(name, (error.parentSchema ?? {}) as JsonMap)
    : missing
      ? `${quote(name)} ${predicate}`
      : predicate
  return { fault: faults[error.keyword] ?? 'value', path, at_key, message, sentence: { subject, predicate } }
}

const faults: Readonly<Record<string, SchemaFault>> = {
  required: 'missing',
  additionalProperties: 'unknown',
  type: 'type',
}

/** The path of the value with the error; for a missing or unknown key, the path of the key. */
function subjectOf(error: ErrorObject): string[] {
  const { instancePath, keyword, params } = error
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { additionalProperty, missingProperty } = params as JsonMap
  if (keyword === 'additionalProperties') return [...path, String(additionalProperty)]
  const excluded = excludedMember(error)
  if (excluded !== null) return [...path, excluded.name]
  return keyword === 'required' ? [...path, String(missingProperty)] : path
}

/** The problem as an answer names it: the path of a missing member is that of the member. */
export function fieldProblem({ fault, path, message, sentence }: SchemaProblem): { path: string; message: string } {
  if (fault !== 'missing' || sentence === undefined) return { path: path.join('.'), message }
  return { path: sentence.subject.join('.'), message }
}

/** One sentence for any number of fields that are wrong. */
export function problemSummary(errors: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = errors
  if (first === undefined) return 'a field is wrong'
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  // The message of a missing member names it.
  const name = quote(first.path.split('.').at(-1) ?? '')
  if (first.path !== '' && first.message.startsWith(name))
    return `\`${first.path}\`${first.message.slice(name.length)}${more}`
  return `${first.path === '' ? 'body' : `\`${first.path}\``}: ${first.message}${more}`
}
