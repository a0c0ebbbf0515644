// Locates a value in a YAML document by its path.
import type { Document, Node, Pair } from 'yaml'
import type { Targets } from './tree.js'
import { yaml } from './yaml.js'

/**
 * 0-based offset of the value at a path, or of its name; that of the nearest parent for a missing value. A name that
 * contains dots may be one part of the path or several.
 */
export function offsetOf(
  document: Document.Parsed,
  targets: Targets,
  path: readonly string[],
  at_key: boolean,
): number {
  const { isAlias, isMap, isSeq } = yaml()
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  let rest = path
  while (rest.length > 0) {
    if (isAlias(node)) node = targets.get(node)
    const step = isMap(node) ? memberOf(node.items, rest) : isSeq(node) ? itemOf(node.items, rest) : null
    if (step === null) return offset
    rest = step.rest
    node = rest.length === 0 && at_key ? step.key : step.value
    offset = startOf(node) ?? startOf(step.key) ?? offset
  }
  return offset
}

/** The source text of a top-level value that is a plain scalar; else null. */
export function plainSourceOf(document: Document.Parsed, key: string): string | null {
  const { isMap, isScalar } = yaml()
  if (!isMap(document.contents)) return null
  const node = memberOf(document.contents.items, [key])?.value
  return isScalar(node) && node.type === 'PLAIN' ? (node.source ?? null) : null
}

interface Step {
  readonly key: unknown
  readonly value: unknown
  readonly rest: readonly string[]
}

function memberOf(items: readonly Pair[], path: readonly string[]): Step | null {
  const { isPair, isScalar } = yaml()
  for (let parts = 1; parts <= path.length; parts++) {
    const name = path.slice(0, parts).join('.')
    const pair = items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === name)
    if (pair !== undefined) return { key: pair.key, value: pair.value, rest: path.slice(parts) }
  }
  return null
}

function itemOf(items: readonly unknown[], [index, ...rest]: readonly string[]): Step | null {
  const value = items[Number(index)]
  return value === undefined ? null : { key: value, value, rest }
}

function startOf(node: unknown): number | null {
  return (node as Node | null)?.range?.[0] ?? null
}
