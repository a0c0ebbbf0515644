// Checking values against JSON Schemas, with messages that name the field and say what to do. The one door to Ajv.
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { didYouMean } from './nearest.js'
import { need } from './need.js'
import { type JsonMap, parseTimestamp } from './steps.js'

export interface SchemaProblem {
  /** Member names and array indexes that lead to the value. */
  readonly path: readonly string[]
  /** True when the trouble is the last member's name rather than its value. */
  readonly at_key: boolean
  readonly message: string
}

export type SchemaCheck = (value: unknown) => readonly SchemaProblem[]

/** Checks for schemas that refer to each other by `$id`; each is compiled at its first use, then kept. */
export function createChecker(schemas: Iterable<JsonMap>): (id: string) => SchemaCheck {
  const ajv = newAjv()
  for (const schema of schemas) ajv.addSchema(schema)
  return (id) => {
    const validate = ajv.getSchema(id)
    if (validate === undefined) throw new Error(`no schema \`${id}\``)
    return checkWith(validate)
  }
}

/** A check for one schema that refers to no other, compiled at its first use. */
export function lazyCheck(schema: JsonMap): SchemaCheck {
  let check: SchemaCheck | undefined
  return (value) => {
    check ??= checkWith(newAjv().compile(schema))
    return check(value)
  }
}

function newAjv(): Ajv2020 {
  // The schemas are this project's own; checking them against the meta-schema at each start took most of the start.
  const { Ajv2020 } = need('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, validateSchema: false })
  return ajv.addFormat('date-time', { type: 'string', validate: (text: string) => parseTimestamp(text) !== null })
}

function checkWith(validate: ValidateFunction): SchemaCheck {
  return (value) => {
    if (validate(value)) return []
    return (validate.errors ?? []).filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'if').map(explain)
  }
}

function explain(error: ErrorObject): SchemaProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const params = error.params as JsonMap
  const problem = (message: string, key?: unknown) => ({
    path: key === undefined ? path : [...path, String(key)],
    at_key: error.keyword === 'additionalProperties',
    message,
  })
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params.additionalProperty)
      const known = Object.keys((error.parentSchema as { properties?: JsonMap }).properties ?? {})
      const offer = known.length <= 12 ? `; allowed: ${known.join(', ')}` : ''
      return problem(`unknown key \`${shown(key)}\`${didYouMean(key, known) || offer}`, key)
    }
    case 'required':
      return problem(`\`${String(params.missingProperty)}\` is missing`)
    case 'enum':
      return problem(`must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`)
    case 'const':
      return problem(`must be ${JSON.stringify(params.allowedValue)}`)
    case 'type':
      return problem(`must be ${[params.type].flat().join(' or ')}`)
    case 'pattern':
      return problem(`must ${patternWords(error.parentSchema as JsonMap, String(params.pattern))}`)
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return problem(params.limit === 1 ? 'must not be empty' : `must have ${String(params.limit)} at least`)
    case 'maxLength':
      return problem(`must have ${String(params.limit)} characters at most`)
    case 'format':
      return problem('must be an RFC 3339 time, such as 2026-01-31T08:00:00Z')
    default:
      return problem(error.message ?? 'does not fit')
  }
}

/** What a pattern asks for; a schema says it in words of its own as `x-must`. */
function patternWords(schema: JsonMap, pattern: string): string {
  if (typeof schema['x-must'] === 'string') return schema['x-must']
  if (pattern.startsWith('^[ -~]')) return 'be printable ASCII characters'
  if (pattern.startsWith('^[!-~]')) return 'be printable ASCII characters without spaces'
  return `match ${pattern}`
}

/** One sentence for any number of fields that are wrong. */
export function problemSummary(errors: readonly { readonly path: string; readonly message: string }[]): string {
  const [first] = errors
  if (first === undefined) return 'a field is wrong'
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${first.path === '' ? 'body' : `\`${first.path}\``}: ${first.message}${more}`
}

/** A name from outside, short enough for a message. */
function shown(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name
}
