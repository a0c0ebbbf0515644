// From bytes to checked values: strict JSON, then the schema; an error names every field that is wrong.
import { createChecker, createNullRemoval, fieldProblem, type SchemaProblem } from '@svc/engine/parts'
import { isMap, lineAndColumn, parseSentBatch, parseSentPolicy, parseStrictJson } from '@svc/proof'
import { documents, type SchemaName, type SchemaTypes } from '@svc/schemas'
import { invalid, PlatformError } from '../errors.js'

const checker = createChecker(Object.values(documents))
const nulls = createNullRemoval(Object.values(documents))
/** The maximum number of wrong fields that one answer names. */
const maxErrors = 50
/** The maximum number of members of a body: no schema has so many, and each unknown one is checked and kept. */
const maxMembers = 1000
/** The maximum number of lines of a body: 1,000 items, and the empty line after the last line break. */
const maxLines = 1001
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a JSON body. Throws MALFORMED naming line and column. */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new PlatformError('MALFORMED', 'the body is empty: send JSON')
  return parseText(decode(bytes))
}

/** The same for a body with a policy, whose compound rules may be deeper than other requests. */
export function readPolicyJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new PlatformError('MALFORMED', 'the body is empty: send JSON')
  return parseText(decode(bytes), null, parseSentPolicy)
}

/**
 * The same for a list of reports, each of which may be as deep as a request. Texts that were cut inside a character are
 * accepted: the half is replaced, because no record can hold it, and one report must not make a list invalid.
 */
export function readReportJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new PlatformError('MALFORMED', 'the body is empty: send JSON')
  return parseText(wellFormed(decode(bytes)), null, parseSentBatch)
}

/** Reads a body of JSON lines without blank ones; a line that is not JSON becomes the error MALFORMED. Throws INVALID. */
export function readJsonLines(bytes: Uint8Array): unknown[] {
  const lines = decode(bytes).split('\n', maxLines + 1)
  if (lines.length > maxLines)
    throw invalid([{ path: '', message: 'has more than 1,001 lines: send at most 1,000 items in one body' }])
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [readLine(line, index)]))
}

function readLine(line: string, index: number): unknown {
  try {
    return parseText(line, index)
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

/** Throws MALFORMED for bytes that are not UTF-8. */
export function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new PlatformError('MALFORMED', 'the body is not UTF-8')
  }
}

/** JSON in which half of a character, which no record can hold, is replaced. */
export function wellFormed(json: string): string {
  if (!/\\ud[89a-f]/i.test(json)) return json
  const escapes = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u(d[89a-f][0-9a-f]{2})|.)/gis
  return json.replaceAll(escapes, (found, _high, _low, lone) => (lone === undefined ? found : '\\ufffd'))
}

function parseText(text: string, lines_before: number | null = null, parse = parseStrictJson): unknown {
  const reading = parse(text)
  if (reading.problem === null) return reading.value
  const { message, offset } = reading.problem
  const at = offset === null ? null : lineAndColumn(text, offset)
  const line = (at?.line ?? 1) + (lines_before ?? 0)
  const ofLines = lines_before === null ? '' : ` of line ${line}`
  const where = at === null ? ofLines : ` at line ${line}, column ${at.column}`
  throw new PlatformError('MALFORMED', `${message}${where}`)
}

/**
 * The value with the type of its schema; null in optional members is removed from it. Throws INVALID naming every field
 * that is wrong.
 */
export function validated<Name extends SchemaName>(name: Name, value: unknown): SchemaTypes[Name] {
  assertFewMembers(value)
  nulls(`${name}.json`)(value)
  return checked<SchemaTypes[Name]>(checker(`${name}.json`)(value), value)
}

function assertFewMembers(value: unknown): void {
  const members = isMap(value) ? Object.keys(value).length : 0
  if (members > maxMembers)
    throw invalid([{ path: '', message: `has ${members.toLocaleString('en')} members: the limit is 1,000` }])
}

export function isValid(name: SchemaName, value: unknown): boolean {
  return checker(`${name}.json`)(value).length === 0
}

/** Returns the value, or throws INVALID if there are problems. */
export function checked<T>(problems: readonly SchemaProblem[], value: unknown): T {
  if (problems.length > 0) throw invalid(problems.slice(0, maxErrors).map(fieldProblem))
  return value as T
}
