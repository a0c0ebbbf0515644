// Members of JSON values by path (docs/design/engine.md §1), nested or with dots in their names.
import type { JsonMap } from '@svc/schemas'

/** Names of JavaScript prototypes, which never resolve. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** A path leads to two different values, to one that can be read in two ways, or to one outside a closed list. Every policy that reads it is violated. */
export class AmbiguousField extends Error {
  readonly code = 'AMBIGUOUS_FIELD'
  readonly path: string
  readonly remedy: string

  constructor(path: string, problem = 'has two different values', remedy = `set \`${path}\` once`) {
    super(`\`${path}\` ${problem}`)
    this.path = path
    this.remedy = remedy
  }
}

/** A value that must be a number and is something else. */
export function notANumber(path: string): AmbiguousField {
  return new AmbiguousField(path, 'is not a number', `write \`${path}\` as a number, such as 1000.5`)
}

/** The member at a path; null when it is missing. */
export function nested(root: unknown, segments: readonly string[]): unknown {
  let value = root
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return null
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(segment)) return null
    value = (value as JsonMap)[segment]
  }
  return value ?? null
}

/**
 * Finds a path that is nested, one dotted key, or any mixture. Two spellings must agree, otherwise it throws
 * AmbiguousField.
 */
export function dotted(segments: readonly string[]): (root: unknown) => unknown {
  const ways = segments.map((_, index) => ({
    head: segments.slice(0, index + 1).join('.'),
    tail: index === segments.length - 1 ? null : dotted(segments.slice(index + 1)),
  }))
  return (root) => {
    if (typeof root !== 'object' || root === null) return null
    let found: unknown = null
    for (let index = 0; index < ways.length; index++) {
      const way = ways[index]
      if (way === undefined || !Object.hasOwn(root, way.head)) continue
      if (Array.isArray(root) && !/^(0|[1-9]\d*)$/.test(way.head)) continue
      const value = (root as JsonMap)[way.head]
      const here = way.tail === null ? (value ?? null) : way.tail(value)
      if (here === null) continue
      if (found !== null && !sameJson(found, here)) throw new AmbiguousField(segments.join('.'))
      found = here
    }
    return found
  }
}

/** Strict equality of two JSON values; the order of members does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  const pending: [unknown, unknown][] = [[a, b]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair
    if (left === right) continue
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
    if (Array.isArray(left) !== Array.isArray(right)) return false
    const keys = Object.keys(left)
    if (keys.length !== Object.keys(right).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false
      pending.push([(left as JsonMap)[key], (right as JsonMap)[key]])
    }
  }
  return true
}
