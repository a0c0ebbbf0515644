// The values of a step in other spellings: numbers and flags as text, words of the vocabulary in other letters
// (docs/adr/0058-spellings.md). What differs in spelling only must not evade a condition.
import { propertyWords } from '@svc/schemas'

/** Properties whose values are words of a vocabulary or names that ignore case. */
const wordPaths: ReadonlySet<string> = new Set(
  propertyWords.flatMap(({ name, compared }) => (compared === 'word' ? [name] : [])),
)

/** A value as it is compared: a word of a well-known property in lower case, without white space and full stops around it. */
export function comparable(path: string, value: unknown): unknown {
  return wordPaths.has(path) ? folded(value) : value
}

/** The same for values of one path; null where they are compared as they are, which needs no call. */
export function compileComparable(path: string): ((value: unknown) => unknown) | null {
  return wordPaths.has(path) ? folded : null
}

function folded(value: unknown): unknown {
  return typeof value === 'string' ? value.normalize('NFKC').trim().toLowerCase().replace(/\.+$/, '') : value
}

/** True if a number, a flag or a text is the wanted one, written as another type: `"500"` is 500, `"True"` and 1 are true. */
export function isSameScalar(wanted: unknown, value: unknown): boolean {
  if (typeof wanted === typeof value) return false
  if (typeof wanted === 'boolean') return flagIn(value) === wanted
  if (typeof wanted === 'number') return numberIn(value) === wanted
  if (typeof wanted !== 'string') return false
  if (typeof value === 'number') return wanted.trim() === String(value)
  return typeof value === 'boolean' && flagIn(wanted) === value
}

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, yes: true, no: false, 1: true, 0: false }

function flagIn(value: unknown): boolean | undefined {
  const word = typeof value === 'number' ? String(value) : value
  return typeof word === 'string' ? flags[word.trim().toLowerCase()] : undefined
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** The number that a value is or writes in plain digits; undefined for any other value, such as `1,000`, which is 1 or 1000. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !decimal.test(value.trim())) return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** True if a text holds digits but is not a plain number: no limit can be checked against it. */
export function isUnclearNumber(value: unknown): boolean {
  return typeof value === 'string' && numberIn(value) === undefined && /\d/.test(value)
}
