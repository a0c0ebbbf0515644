// Strict JSON for evidence (docs/design/log.md §1): text that two readers could understand differently is rejected.
import { maxPolicyDepth, maxRequestDepth, maxStoredDepth } from './depth.js'
import { type JsonReading, readJson, type Strictness } from './json-reader.js'
import { isName } from './literals.js'
import { parseJson } from './parse-json.js'

const sent: Strictness = {
  maxDepth: maxRequestDepth,
  isExact: (literal) => Number.isSafeInteger(Number(literal)),
  inexact: 'an integer beyond 2^53-1; send it as a string',
}

/** A policy, and the levels that a request wraps it in. */
const sentPolicy: Strictness = { ...sent, maxDepth: maxPolicyDepth + 8 }

/** Requests in a list, and the two levels around them. */
const sentBatch: Strictness = { ...sent, maxDepth: maxRequestDepth + 2 }

/** RFC 8785 writes a double below 10^21 as an integer literal, in whatever form it was sent. */
const stored: Strictness = {
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

function parsed(text: string, strictness: Strictness): JsonReading {
  const value = plainValue(text)
  if (value !== undefined) return { value, problem: null }
  if (!text.isWellFormed()) return { problem: { message: 'a lone surrogate', offset: null } }
  return readJson(text, strictness)
}

/** Text that needs the strict reader: escaped surrogates, and numbers that may be too long or too large. */
const needsReader = /\\u[dD]|(?:^|[:,[\s])-?(?:[\d.]{15}|[\d.]+[eE])/

/**
 * The value of a text that is clearly valid, at a fraction of the cost: the reader has kept as many members as the
 * text has names, so that no name occurs twice. Undefined when unclear.
 */
function plainValue(text: string): unknown {
  if (needsReader.test(text) || !text.isWellFormed()) return undefined
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

/** True if an odd number of backslashes is before the quote. */
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

const backslash = 0x5c
