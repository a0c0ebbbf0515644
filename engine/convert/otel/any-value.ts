// Attribute values of OTLP JSON as plain JSON.
import { isMap } from '@svc/proof'

/** Attributes by name; a map, because a name may be any text. */
export type Attributes = ReadonlyMap<string, unknown>

/** The attributes of a list of key and value; entries of another form are left out, and of two with one name the last counts. */
export function attributesOf(list: unknown): Attributes {
  return new Map(entriesOf(list))
}

/** An AnyValue as JSON: an integer that a double cannot hold is text, bytes stay base64. Null for a value of no known kind. */
export function jsonOf(any: unknown): unknown {
  if (!isMap(any)) return null
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = any
  if (intValue !== undefined) return integerOf(intValue)
  if (isMap(arrayValue)) return Array.isArray(arrayValue.values) ? arrayValue.values.map(jsonOf) : []
  if (isMap(kvlistValue)) return Object.fromEntries(entriesOf(kvlistValue.values))
  return stringValue ?? boolValue ?? doubleValue ?? bytesValue ?? null
}

function entriesOf(list: unknown): [string, unknown][] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown): [string, unknown][] =>
    isMap(entry) && typeof entry.key === 'string' ? [[entry.key, jsonOf(entry.value)]] : [],
  )
}

function integerOf(given: unknown): unknown {
  if (typeof given !== 'string' || !/^-?\d{1,20}$/.test(given)) return given
  return Number.isSafeInteger(Number(given)) ? Number(given) : given
}
