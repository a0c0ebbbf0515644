// Query parameters, checked like bodies: unknown ones are refused, so that a misspelt filter never means "all".

import { type JsonMap, lazyCheck, type SchemaCheck } from '@svc/engine'
import type { FieldError } from '../errors.js'
import { invalid } from '../errors.js'
import { checked } from './validate.js'

export type Query = Readonly<Record<string, string>>

/** A check for a route's parameters. Throws INVALID. */
export function queryCheck(parameters: Readonly<Record<string, JsonMap>>): (query: unknown) => Query {
  const check: SchemaCheck = lazyCheck({ type: 'object', additionalProperties: false, properties: parameters })
  return (query) => {
    const value = checked<Query>(check(query), query)
    const errors = Object.entries(value).flatMap(([name, text]) => outOfRange(name, text, parameters[name] ?? {}))
    if (errors.length > 0) throw invalid(errors)
    return value
  }
}

function outOfRange(path: string, text: string, { minimum, maximum }: JsonMap): FieldError[] {
  if (typeof maximum !== 'number' || typeof minimum !== 'number') return []
  const value = Number(text)
  return value >= minimum && value <= maximum ? [] : [{ path, message: `must be from ${minimum} to ${maximum}` }]
}
