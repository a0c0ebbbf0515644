// RFC 8785 (JCS): one text for one JSON value, so that every program hashes the same bytes.
import { maxStoredDepth } from './depth.js'

/** A list or an object that is being written; `names` is null for a list. */
interface Open {
  readonly value: Readonly<Record<string, unknown>>
  readonly names: readonly string[] | null
  readonly count: number
  at: number
}

/**
 * Canonical JSON of a value: members sorted by UTF-16 code units, ECMAScript numbers, no white space. A member that is
 * undefined is omitted. Throws TypeError for values that JSON cannot express (non-finite numbers, lone surrogates, functions)
 * and for more levels than readers accept.
 */
export function canonical(value: unknown): string {
  const whole = scalar(value)
  if (whole !== null) return whole
  // An explicit stack, so that a deep value cannot exhaust the call stack.
  const outer: Open[] = []
  let inner = opened(value as object)
  let text = inner.names === null ? '[' : '{'
  let separator = ''
  for (;;) {
    if (inner.at === inner.count) {
      text += inner.names === null ? ']' : '}'
      const parent = outer.pop()
      if (parent === undefined) return text
      inner = parent
      separator = ','
      continue
    }
    const name = inner.names === null ? inner.at : (inner.names[inner.at] as string)
    const member = inner.value[name]
    inner.at += 1
    if (member === undefined && inner.names !== null) continue
    text += inner.names === null ? separator : `${separator}${quote(name as string)}:`
    const simple = scalar(member)
    if (simple !== null) {
      text += simple
      separator = ','
      continue
    }
    outer.push(inner)
    if (outer.length >= maxStoredDepth) throw new TypeError(`the value has more than ${maxStoredDepth} levels`)
    inner = opened(member as object)
    text += inner.names === null ? '[' : '{'
    separator = ''
  }
}

/** The text of a value without members; null for a list or an object. */
function scalar(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no canonical form')
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : null
    default:
      throw new TypeError(`a ${typeof value} has no canonical form`)
  }
}

function opened(value: object): Open {
  const members = value as Open['value']
  if (Array.isArray(value)) return { value: members, names: null, count: value.length, at: 0 }
  const names = Object.keys(value).sort()
  return { value: members, names, count: names.length, at: 0 }
}

/** ASCII without quotes, backslashes and control characters needs no escape. */
const plain = /^[ !#-[\]-~]*$/

function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('a string with a lone surrogate has no canonical form')
  return JSON.stringify(text)
}
