// Strict JSON for evidence (docs/design/log.md §1): text that two readers could understand differently is rejected.
import { maxPolicyDepth, maxRequestDepth, maxStoredDepth } from './depth.js'
import { jsonFault } from './json-fault.js'
import { endOfNumber, endOfString, isName } from './literals.js'
import { parseJson, unescaped } from './parse-json.js'

export interface JsonProblem {
  readonly message: string
  /** 0-based offset into the text; null when unknown. */
  readonly offset: number | null
}

export type JsonReading = { readonly value: unknown; readonly problem: null } | { readonly problem: JsonProblem }

/** The differences between sent and stored text. */
interface Grammar {
  readonly maxDepth: number
  /** Whether an integer literal is read exactly; a literal with a point or an exponent is read as the nearest double. */
  readonly isExact: (literal: string) => boolean
  readonly inexact: string
}

const sent: Grammar = {
  maxDepth: maxRequestDepth,
  isExact: (literal) => Number.isSafeInteger(Number(literal)),
  inexact: 'an integer beyond 2^53-1; send it as a string',
}

/** A policy, and the levels that a request wraps it in. */
const sentPolicy: Grammar = { ...sent, maxDepth: maxPolicyDepth + 8 }

/** Requests in a list, and the two levels around them. */
const sentBatch: Grammar = { ...sent, maxDepth: maxRequestDepth + 2 }

/** RFC 8785 writes a double below 10^21 as an integer literal, in whatever form it was sent. */
const stored: Grammar = {
  maxDepth: maxStoredDepth,
  isExact: (literal) => Number.isSafeInteger(Number(literal)) || String(Number(literal)) === literal,
  inexact: 'an integer beyond 2^53-1 that is not the shortest form of a double',
}

/**
 * Parses JSON text of a request; never throws. Rejects malformed text, duplicate member names, lone surrogates,
 * integer literals beyond 2^53-1, numbers too large for a double, nesting deeper than 64.
 */
export function parseStrictJson(text: string): JsonReading {
  return parsed(text, sent)
}

/** The same for a request with a policy, whose compound rules may be nested deeper. */
export function parseSentPolicy(text: string): JsonReading {
  return parsed(text, sentPolicy)
}

/** The same for a request with a list, each item of which may be as deep as a request. */
export function parseSentBatch(text: string): JsonReading {
  return parsed(text, sentBatch)
}

/**
 * Parses JSON text that our own writers made of values that parseStrictJson accepts: as strict, but it accepts the integers
 * that JSON writes for large doubles, and the levels that a line adds around a request or a policy.
 */
export function parseStoredJson(text: string): JsonReading {
  return parsed(text, stored)
}

function parsed(text: string, grammar: Grammar): JsonReading {
  const value = plainValue(text)
  if (value !== undefined) return { value, problem: null }
  const problem = scan(text, grammar)
  if (problem !== null) return { problem }
  try {
    return { value: parseJson(text), problem: null }
  } catch {
    // The parser's own message quotes the text around the fault; a message must not contain payloads.
    const { offset, expected } = jsonFault(text)
    return { problem: { message: `not JSON: ${faultText(text, offset, expected)}`, offset } }
  }
}

function faultText(text: string, offset: number, expected: string): string {
  const here = text.charAt(offset)
  const is_after_comma = (expected === 'name' && here === '}') || (expected === 'value' && here === ']')
  if (is_after_comma && /,\s*$/.test(text.slice(Math.max(0, offset - maxGap), offset)))
    return `a comma before \`${here}\`: remove the comma`
  const found = offset >= text.length ? 'the end' : /[[\]{},:]/.test(here) ? `\`${here}\`` : 'something else'
  return `expected ${expected}, found ${found}`
}

/** Spaces and lines between a comma and the bracket after it. */
const maxGap = 200

/** Text that needs a scan: escaped surrogates, and numbers that may be too long or too large. */
const needsScan = /\\u[dD]|(?:^|[:,[\s])-?(?:[\d.]{15}|[\d.]+[eE])/

/**
 * The value of a text that is clearly valid, at a third of the cost of a scan: the reader has kept as many members as the
 * text has names, so that no name occurs twice. Undefined when unclear.
 */
function plainValue(text: string): unknown {
  if (needsScan.test(text) || !text.isWellFormed()) return undefined
  try {
    const value = parseJson(text)
    return membersOf(value, 0) === namesIn(text) ? value : undefined
  } catch {
    return undefined
  }
}

/** Counts the strings before a colon, in JSON. */
function namesIn(text: string): number {
  let names = 0
  for (let open = text.indexOf('"'); open >= 0; ) {
    let close = text.indexOf('"', open + 1)
    while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
    if (isName(text, close + 1)) names += 1
    open = text.indexOf('"', close + 1)
  }
  return names
}

/** Whether an odd number of backslashes is before the quote. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1
  while (text.charCodeAt(before) === backslash) before -= 1
  return (quote - 1 - before) % 2 === 1
}

/** Counts the members of all objects; NaN, which equals no number, for a value deeper than any request. */
function membersOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth >= maxRequestDepth) return Number.NaN
  const list = Array.isArray(value)
  const items = list ? value : Object.values(value)
  let count = list ? 0 : items.length
  for (let index = 0; index < items.length; index++) count += membersOf(items[index], depth + 1)
  return count
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const quoteMark = 0x22
const backslash = 0x5c

/**
 * Finds in one pass what JSON accepts but evidence must not contain. It knows only strings and brackets of the grammar,
 * because parseJson checks the text next.
 */
function scan(text: string, grammar: Grammar): JsonProblem | null {
  if (!text.isWellFormed()) return { message: 'a lone surrogate', offset: null }
  const names: (Set<string> | null)[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quoteMark) {
      const end = endOfString(text, index)
      if (end < 0) return { message: 'a string that does not end', offset: index }
      const problem = checkString(text, index, end, names.at(-1) ?? null)
      if (problem !== null) return problem
      index = end
    } else if (code === 0x7b || code === 0x5b) {
      names.push(code === 0x7b ? new Set() : null)
      if (names.length > grammar.maxDepth)
        return { message: `nested deeper than ${grammar.maxDepth} levels`, offset: index }
    } else if (code === 0x7d || code === 0x5d) {
      names.pop()
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, index)
      const problem = checkNumber(text.slice(index, end), index, grammar)
      if (problem !== null) return problem
      index = end - 1
    }
  }
  return null
}

/** An escape can hide a lone surrogate, and a string before a colon is a member name. */
function checkString(text: string, start: number, end: number, names: Set<string> | null): JsonProblem | null {
  const raw = text.slice(start + 1, end)
  const plain = raw.includes('\\') ? unescaped(raw) : raw
  if (plain === null) return { message: 'a string that is not JSON', offset: start }
  if (plain !== raw && !plain.isWellFormed()) return { message: 'a lone surrogate', offset: start }
  if (names === null || !isName(text, end + 1)) return null
  if (names.has(plain)) return { message: `duplicate member name \`${plain.slice(0, 80)}\``, offset: start }
  names.add(plain)
  return null
}

function checkNumber(literal: string, offset: number, grammar: Grammar): JsonProblem | null {
  if (literal.length < 16 && !/[eE]/.test(literal)) return null
  const value = Number(literal)
  // parseJson finds a malformed number.
  if (Number.isNaN(value)) return null
  if (!Number.isFinite(value)) return { message: 'a number too large to be kept exactly', offset }
  if (/^-?\d+$/.test(literal) && !grammar.isExact(literal)) return { message: grammar.inexact, offset }
  return null
}
