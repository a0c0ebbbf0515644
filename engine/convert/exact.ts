// Values from a transcript in a step: they must not change, and every reader must accept them.
import { maxRequestDepth, parseStrictJson } from '@svc/proof'

/** Levels of a value: a batch of steps adds up to 7 levels around it. */
export const maxValueDepth = maxRequestDepth - 8

/** Parses JSON text that all readers understand alike; returns any other value unchanged. */
export function readable(given: unknown): unknown {
  if (typeof given !== 'string') return shallow(given)
  if (!/^\s*[[{]/.test(given)) return given
  const reading = parseStrictJson(given)
  if (reading.problem !== null || !keepsNumbers(given) || depthOf(reading.value) > maxValueDepth) return given
  return reading.value
}

/** The value, or its JSON text when it is nested too deeply to be sent inside a step. */
export function shallow(value: unknown): unknown {
  return depthOf(value) > maxValueDepth ? JSON.stringify(value) : value
}

/** Levels of arrays and objects, 0 for a scalar. The value has been parsed with a limit on its depth. */
export function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let below = 0
  for (const member of Object.values(value)) below = Math.max(below, depthOf(member))
  return below + 1
}

// A literal of fewer than 15 characters without exponent is always exact: a double has at least 15 significant digits.
const inexactCandidate = /\d[\d.]{14}|\d[eE]/
const literalAt = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** A longer literal has more digits than a double. */
const maxLiteralLength = 400

/** True when reading each number of a valid JSON text as a double and writing it again keeps its value. */
export function keepsNumbers(json: string): boolean {
  if (!inexactCandidate.test(json)) return true
  const literals = new RegExp(literalAt)
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === 0x22) {
      index = endOfString(json, index)
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      literals.lastIndex = index
      const literal = literals.exec(json)?.[0] ?? ''
      if (!isKept(literal)) return false
      index += Math.max(0, literal.length - 1)
    }
  }
  return true
}

function endOfString(json: string, start: number): number {
  let index = start + 1
  while (index < json.length && json.charCodeAt(index) !== 0x22) index += json.charCodeAt(index) === 0x5c ? 2 : 1
  return index
}

function isKept(literal: string): boolean {
  if (literal.length > maxLiteralLength) return false
  const value = Number(literal)
  return Number.isFinite(value) && normal(literal) === normal(String(value))
}

/** The canonical form of a literal: significant digits and a power of ten. */
function normal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(power) - fraction.length + digits.length - significant.length}`
}
