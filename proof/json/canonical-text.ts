// Reading texts that were written in canonical form (RFC 8785): records and payloads as they are stored and handed on.
import { canonical } from './canonical.js'
import { isMap } from './checks.js'
import { maxRequestDepth } from './depth.js'
import { parseStoredJson } from './strict-json.js'

export type CanonicalReading<T = unknown> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/** The value of a text that is its canonical form, read as strictly as evidence must be; never throws. */
export function readCanonical(text: string): CanonicalReading {
  const plain = plainValue(text)
  if (plain !== undefined) return { value: plain, problem: null }
  const reading = parseStoredJson(text)
  if (reading.problem !== null) return { value: null, problem: `cannot be read: ${reading.problem.message}` }
  if (canonical(reading.value) !== text) return { value: null, problem: 'is not in canonical form' }
  return { value: reading.value, problem: null }
}

/** The same for a text that is a JSON object; null for any other. */
export function canonicalObject(text: string): Readonly<Record<string, unknown>> | null {
  const { value } = readCanonical(text)
  return isMap(value) ? value : null
}

/**
 * The value of a text that is clearly canonical, at a third of the cost: what JSON.parse reads and JSON.stringify writes
 * again has no member twice, no white space and no number or string in another form. Undefined when that cannot be told.
 */
function plainValue(text: string): unknown {
  // How JSON.stringify writes a lone surrogate, which evidence must not hold.
  if (text.includes('\\ud')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isOrdered(value, 0) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether members are in the order of UTF-16 code units everywhere; false as well for what is deeper than any request. */
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
