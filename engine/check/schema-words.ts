// Messages for failed keywords of a JSON Schema: the expected value, the value found, and what to write instead.

import type { JsonMap } from '@svc/schemas'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { didYouMean, nearest } from './nearest.js'
import { quote } from './quote.js'

/** The terms of a message: those of YAML files or those of JSON bodies. */
export type Dialect = 'yaml' | 'json'

type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

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
      return typeWords([params.type].flat() as Kind[], schema, data, dialect)
    case 'pattern':
      // A secret is not repeated.
      return `must ${patternWords(schema, String(params.pattern))}${schema.writeOnly === true ? '' : textFound(data)}`
    case 'format':
      return `must be an RFC 3339 time, such as 2026-01-31T08:00:00Z${textFound(data)}`
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

function typeWords(types: readonly Kind[], schema: JsonMap, data: unknown, dialect: Dialect): string {
  const names = types.map((type) => kinds[dialect][type])
  const advice = dialect === 'json' ? '' : adviceOf(types[0] as Kind, schema, data)
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

/** What to write in a YAML file instead; empty where that is unknown. */
function adviceOf(type: Kind, schema: JsonMap, data: unknown): string {
  const write = (text: string) => (text.length > 60 ? '' : `; write ${quote(text)}`)
  const isScalar = typeof data === 'string' || typeof data === 'number'
  if (type === 'string' && (typeof data === 'number' || typeof data === 'boolean')) return write(`"${data}"`)
  if (type === 'string' && Array.isArray(data) && data.length === 1 && typeof data[0] === 'string')
    return write(plain(data[0]))
  if ((type === 'integer' || type === 'number') && typeof data === 'string')
    return data.trim() !== '' && Number.isFinite(Number(data))
      ? `${write(data.trim())} without quotes`
      : `; write a number such as ${quote(numberIn(data) ?? String(schema.minimum ?? 1))}`
  if (type === 'integer' && typeof data === 'number') return write(String(Math.round(data)))
  if (type === 'boolean') {
    if (/^(yes|on|true|y|1)$/i.test(String(data))) return write('true')
    return /^(no|off|false|n|0)$/i.test(String(data)) ? write('false') : '; write `true` or `false`'
  }
  if (type === 'array') {
    const { type: item } = (schema.items ?? {}) as { type?: string }
    if (item === 'object') return '; write a dash before each item, `- name: …`'
    return isScalar
      ? write(`[${typeof data === 'string' ? itemsIn(data).map(plain).join(', ') : data}]`)
      : '; write a dash before each item'
  }
  if (type === 'object') {
    const [, name, rest] = /^([\w.-]+):(\S.*)$/.exec(typeof data === 'string' ? data : '') ?? []
    if (name !== undefined) return `; write a space after the colon, ${quote(`${name}: ${rest}`)}`
    return Array.isArray(data)
      ? '; write `key: value` pairs, without dashes or brackets'
      : '; write `key: value` in lines below it'
  }
  return ''
}

/** The number that a text such as `08:00`, `5000 €` or `EUR 5000` probably means; null without a number, or with several. */
function numberIn(text: string): string | null {
  const [, hour] = /^\s*(\d{1,2}):\d{2}\s*$/.exec(text) ?? []
  if (hour !== undefined) return String(Number(hour))
  const [number, ...others] = text.match(/\d+(\.\d+)?/g) ?? []
  return number === undefined || others.length > 0 ? null : number
}

/** The parts of a text that is probably a list, such as `EUR, CHF`. */
function itemsIn(text: string): string[] {
  const parts = text.split(/[,;]/).map((part) => part.trim())
  return parts.length > 1 && parts.every((part) => /^[\w.-]+$/.test(part)) ? parts : [text]
}

/** A text as an item of a list in brackets. */
function plain(text: string): string {
  return /^[A-Za-z_][\w./ -]*$/.test(text) ? text : JSON.stringify(text)
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
