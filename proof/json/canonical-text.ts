// Reads texts that must be in canonical form (RFC 8785): records and payloads.
import { canonical } from './canonical.js'
import { isMap } from './checks.js'
import { maxRequestDepth } from './depth.js'
import { parseJson } from './parse-json.js'
import { parseStoredJson } from './strict-json.js'

export type CanonicalReading<T = unknown> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/** The value of a canonical text, read as strictly as evidence requires; never throws. */
export function readCanonical(text: string): CanonicalReading {
  const plain = plainValue(text)
  if (plain !== undefined) return { value: plain, problem: null }
  const reading = parseStoredJson(text)
  if (reading.problem !== null) return { value: null, problem: `cannot be read: ${reading.problem.message}` }
  if (canonical(reading.value) !== text) return { value: null, problem: 'is not in canonical form' }
  return { value: reading.value, problem: null }
}

/** The value of a canonical text that is a JSON object; null for any other text. */
export function canonicalObject(text: string): Readonly<Record<string, unknown>> | null {
  const { value } = readCanonical(text)
  return isMap(value) ? value : null
}

/**
 * The value of a text that is clearly canonical, at a third of the cost: a text that JSON.stringify writes again from what
 * parseJson reads has no duplicate member, no white space and no other form of a number or string. Undefined when unclear.
 */
function plainValue(text: string): unknown {
  // JSON.stringify writes a lone surrogate in this form; evidence must not contain one.
  if (text.includes('\\ud')) return undefined
  try {
    const value = parseJson(text)
    return isOrdered(value, 0) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** True if all members are in the order of UTF-16 code units; also false for a value that is deeper than any request. */
function isOrdered(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth >= maxRequestDepth) return false
  if (Array.isArray(value)) return value.every((item) => isOrdered(item, depth + 1))
  const members = value as Readonly<Record<string, unknown>>
  let previous = ''
  for (const name of Object.keys(members)) {
    if (name < previous || !isOrdered(members[name], depth + 1)) return false
    previous = name
  }
  return true
}
