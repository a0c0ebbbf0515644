// Query parameters, checked like bodies: unknown ones are rejected, because a misspelt filter would select everything.

import { lazyCheck, type SchemaCheck } from '@svc/engine/parts'
import { isoTime, type JsonMap, parseTimestamp } from '@svc/schemas'
import { type FieldError, invalid } from '../errors.js'
import { checked } from './validate.js'

export type Query = Readonly<Record<string, string>>

type Parameters = Readonly<Record<string, JsonMap>>

/** A check for a route's parameters, which also converts times into UTC. Throws INVALID. */
export function queryCheck(parameters: Parameters, required: readonly string[] = []): (query: unknown) => Query {
  const check: SchemaCheck = lazyCheck({ type: 'object', additionalProperties: false, properties: parameters })
  return (sent) => {
    const query = withLists(sent, parameters)
    const given = Object.entries(checked<Query>(check(query), query))
    const missing = required.filter((name) => !given.some(([known]) => known === name))
    const errors = [
      ...missing.map((path) => ({ path, message: `\`${path}\` is missing` })),
      ...given.flatMap(([name, text]) => outOfRange(name, text, parameters[name] ?? {})),
    ]
    if (errors.length > 0) throw invalid(errors)
    return Object.fromEntries(given.map(([name, text]) => [name, isTime(parameters[name]) ? utcTime(text) : text]))
  }
}

/** Repeated parameters of a list as one text with commas. */
function withLists(query: unknown, parameters: Parameters): unknown {
  const joined = Object.entries(Object(query)).map(([name, value]) => {
    const is_list = Array.isArray(value) && parameters[name]?.['x-list'] === true
    return [name, is_list ? value.join(',') : value]
  })
  return Object.fromEntries(joined)
}

/** Limits of numbers, which a schema of strings cannot express. */
function outOfRange(path: string, text: string, { minimum, maximum }: JsonMap): FieldError[] {
  if (typeof maximum !== 'number' || typeof minimum !== 'number') return []
  const value = Number(text)
  return value >= minimum && value <= maximum
    ? []
    : [{ path, message: `must be from ${minimum} to ${maximum}, found ${text}` }]
}

function isTime(parameter: JsonMap | undefined): boolean {
  return parameter?.format === 'date-time'
}

/** A valid time, in UTC with milliseconds: PostgreSQL accepts fewer zones than RFC 3339. */
function utcTime(text: string): string {
  return isoTime(parseTimestamp(text) ?? Number.NaN)
}
