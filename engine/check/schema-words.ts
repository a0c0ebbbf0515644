// Messages for failed keywords of a JSON Schema: the expected value, the value found, and what to write instead.

import { hiddenCharacter, type JsonMap, type TextFormat, verbsOf } from '@svc/schemas'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { adviceOf, type Kind } from './advice.js'
import { didYouMean, nearest } from './nearest.js'
import { quote } from './quote.js'

/** The terms of a message: those of YAML files or those of JSON bodies. */
export type Dialect = 'yaml' | 'json'

const kinds: Readonly<Record<Dialect, Readonly<Record<Kind, string>>>> = {
  yaml: {
    object: 'a map',
    array: 'a list',
    string: 'text',
    number: 'a number',
    integer: 'a whole number',
    boolean: 'true or false',
    null: 'null',
  },
  json: {
    object: 'an object',
    array: 'an array',
    string: 'a string',
    number: 'a number',
    integer: 'an integer',
    boolean: 'a boolean',
    null: 'null',
  },
}

/** The predicate of a sentence whose subject is the value. */
export function predicateOf(error: ErrorObject, dialect: Dialect): string {
  const { keyword, data } = error
  const params = error.params as JsonMap
  const schema = (error.parentSchema ?? {}) as JsonMap
  const limit = String(params.limit)
  const found = (text: string) => `${text}, found ${foundIn(data, dialect)}`
  switch (keyword) {
    case 'additionalProperties':
      return `is not a known key${hintOf(String(params.additionalProperty), schema)}`
    case 'required':
      return `is missing${exampleOf(schema, String(params.missingProperty), dialect)}`
    case 'enum':
      return enumWords(params.allowedValues as unknown[], data, dialect)
    case 'const':
      return `must be ${quote(JSON.stringify(params.allowedValue))}`
    case 'type':
      return typeWords([params.type].flat() as Kind[], error, dialect)
    case 'pattern':
      // A secret is not repeated.
      return `must ${patternWords(schema, String(params.pattern))}${schema.writeOnly === true ? '' : textFound(data)}`
    case 'format':
      return formatWords(String(params.format), data)
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return params.limit === 1
        ? `must not be empty${keyword === 'minLength' ? '' : `: write at least one ${partsOf(keyword, dialect).slice(0, -1)}`}`
        : `must have at least ${limit} ${partsOf(keyword, dialect)}`
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} ${partsOf(keyword, dialect)}`
    case 'minimum':
      return found(`must be at least ${limit}`)
    case 'maximum':
      return found(`must be at most ${limit}`)
    case 'exclusiveMinimum':
      return found(`must be more than ${limit}`)
    case 'exclusiveMaximum':
      return found(`must be less than ${limit}`)
    case 'uniqueItems':
      return `must not hold the same item twice: items ${String(params.j)} and ${String(params.i)} are equal`
    case 'oneOf':
    case 'not':
      return 'does not match any accepted form'
    default:
      return `is not accepted (${keyword})`
  }
}

/** The name of a hidden character says where to look; the text would not show it. */
function formatWords(format: string, data: unknown): string {
  const standard = { 'date-time': 'RFC 3339', 'iso-8601': 'ISO 8601' }[format]
  if (standard !== undefined) return `must be an ${standard} time, such as 2026-01-31T08:00:00Z${textFound(data)}`
  if (format === 'step-type') {
    const known = Object.keys(verbsOf)
    const hint = didYouMean(String(data), known)
    return `must be one of ${known.join(', ')}, or a type of another system such as TOOL_CALL${textFound(data)}${hint}`
  }
  const character = hiddenCharacter(String(data), format as TextFormat)
  return `must be ${format === 'line' ? 'one line of ' : ''}text without hidden characters, found ${character}`
}

/** A whole message about an unknown key, for an answer that also has the path. */
export function unknownKey(key: string, schema: JsonMap): string {
  return `unknown key ${quote(key)}${hintOf(key, schema)}`
}

/** The known key that an unknown one is probably meant to be; null where none is near. */
export function suggestionFor(key: string, schema: JsonMap): string | null {
  return nearest(key, Object.keys((schema.properties as JsonMap | undefined) ?? {}))
}

function hintOf(key: string, schema: JsonMap): string {
  const known = Object.keys((schema.properties as JsonMap | undefined) ?? {})
  // `-name: x` is a key with a dash in it, and `field:verb` one with a colon.
  if (/^-\w/.test(key) && known.includes(key.slice(1)))
    return `: write a space after the dash, ${quote(`- ${key.slice(1)}`)}`
  const [, name = '', rest = ''] = /^(\w+):(\S.*)$/.exec(key) ?? []
  if (known.includes(name)) return `: write a space after the colon, ${quote(`${name}: ${rest}`)}`
  return didYouMean(key, known) || (known.length <= 12 ? `; allowed: ${known.join(', ')}` : '')
}

function exampleOf(schema: JsonMap, key: string, dialect: Dialect): string {
  const { enum: values } = ((schema.properties as JsonMap | undefined)?.[key] ?? {}) as { enum?: unknown[] }
  if (dialect === 'json') return ''
  return values === undefined ? `: write ${quote(`${key}: …`)}` : `: write one of ${values.map(String).join(', ')}`
}

function enumWords(allowed: readonly unknown[], data: unknown, dialect: Dialect): string {
  const hint =
    typeof data === 'string'
      ? didYouMean(
          data,
          allowed.filter((one) => typeof one === 'string'),
        )
      : ''
  return `must be one of ${allowed.map(String).join(', ')}, found ${foundIn(data, dialect, true)}${hint}`
}

function typeWords(
  types: readonly Kind[],
  { instancePath, parentSchema, data }: ErrorObject,
  dialect: Dialect,
): string {
  const names = types.map((type) => kinds[dialect][type])
  const name = instancePath.split('/').findLast((part) => !/^\d+$/.test(part)) ?? ''
  const advice = dialect === 'json' ? '' : adviceOf(types[0] as Kind, (parentSchema ?? {}) as JsonMap, data, name)
  return `must be ${names.join(' or ')}, found ${foundIn(data, dialect)}${advice}`
}

/** The value found. A JSON body may hold secrets, so its strings are shown only where one of a few words is expected. */
function foundIn(data: unknown, dialect: Dialect, word = false): string {
  if (data === null) return dialect === 'yaml' ? 'nothing' : 'null'
  if (Array.isArray(data)) return kinds[dialect].array
  if (typeof data === 'object') return kinds[dialect].object
  if (typeof data === 'string') {
    if (dialect === 'json' && !word) return 'a string'
    return word ? quote(data) : `text ${quote(data)}`
  }
  return typeof data === 'number' ? `the number ${quote(String(data))}` : quote(String(data))
}

function textFound(data: unknown): string {
  return typeof data === 'string' ? `, found ${quote(data)}` : ''
}

function partsOf(keyword: string, dialect: Dialect): string {
  if (keyword.endsWith('Length')) return 'characters'
  if (keyword.endsWith('Items')) return 'items'
  return dialect === 'yaml' ? 'keys' : 'members'
}

/** The text form that a pattern requires; a schema can state it as `x-must`. */
function patternWords(schema: JsonMap, pattern: string): string {
  if (typeof schema['x-must'] === 'string') return schema['x-must']
  if (pattern.startsWith('^[ -~]')) return 'be printable ASCII characters'
  if (pattern.startsWith('^[!-~]')) return 'be printable ASCII characters without spaces'
  return `match ${pattern}`
}
