// Reading untrusted YAML: one document, plain data, nothing that expands, and a position for everything.
import { type Document, isMap, isPair, isScalar, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'

export interface Position {
  readonly line: number
  readonly column: number
}

export interface YamlProblem extends Position {
  readonly message: string
}

export interface YamlReading {
  /** The plain value; null when there is none that can be trusted. */
  readonly value: unknown
  readonly problems: readonly YamlProblem[]
  /** Where the value at a path stands, or its name; the nearest parent's place when there is no such value. */
  readonly positionOf: (path: readonly string[], at_key: boolean) => Position
}

/** 256 KiB: a thousand policies fit four times over (git.md §1). */
const largest = 256 * 1024
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Parses YAML 1.2 text; never throws. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter()
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const refuse = (message: string, at: Position = { line: 1, column: 1 }): YamlReading => ({
    value: null,
    problems: [{ message, ...at }],
    positionOf: () => at,
  })
  if (text.length > largest) return refuse('the file is larger than 256 KiB')
  if (!text.isWellFormed()) return refuse('the file holds a lone surrogate: it is not valid text')
  try {
    const documents = parseAllDocuments(text, { lineCounter: lines, version: '1.2', schema: 'core', merge: false })
    const [document, second] = 'empty' in documents ? [] : documents
    if (document === undefined || document.contents === null) return refuse('the file is empty')
    if (second !== undefined) return refuse('the file holds more than one document: use one file each', place(second.range[0]))
    const faults = [...document.errors, ...document.warnings].map((fault) => ({
      message: `not valid YAML: ${fault.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '')}`,
      ...place(fault.pos[0]),
    }))
    const problems = [...faults, ...hazards(document, place)]
    const positionOf = (path: readonly string[], at_key: boolean) => place(offsetOf(document, path, at_key))
    const value: unknown = problems.length > 0 ? null : document.toJS({ maxAliasCount: 100 })
    return { value, problems, positionOf }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/alias/i.test(message)) return refuse('aliases expand too far: write the repeated parts out')
    return refuse(error instanceof RangeError ? 'the file is nested too deeply' : `not valid YAML: ${message}`)
  }
}

/** What YAML allows and two readers could understand differently. */
function hazards(document: Document.Parsed, place: (offset: number) => Position): YamlProblem[] {
  const problems: YamlProblem[] = []
  const note = (node: unknown, message: string) => {
    const range = (node as Node | null)?.range
    problems.push({ message, ...place(range?.[0] ?? 0) })
  }
  visit(document, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || typeof key.value !== 'string') note(key, 'a key must be plain text; put it in quotes')
      else if (key.value === '<<') note(key, 'merge keys are not allowed: write the parts out')
      else if (forbiddenKeys.has(key.value)) note(key, `the key \`${key.value}\` is not allowed`)
    },
    Scalar: (_, node) => {
      if (node.tag !== undefined && !/^tag:yaml\.org,2002:(str|int|float|bool|null)$/.test(node.tag)) note(node, 'tags are not allowed')
      const { value, source = '' } = node
      if (typeof value === 'number' && /^[-+]?\d+$/.test(source) && !Number.isSafeInteger(value)) {
        note(node, 'an integer beyond 2^53-1: put it in quotes')
      }
      if (typeof value === 'number' && !Number.isFinite(value)) note(node, 'a number that is not finite')
    },
  })
  return problems
}

function offsetOf(document: Document.Parsed, path: readonly string[], at_key: boolean): number {
  let node: unknown = document.contents
  let offset = rangeStart(node) ?? 0
  for (const [index, part] of path.entries()) {
    const pair = isMap(node) ? node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part) : null
    const last = index === path.length - 1
    node = pair ? (last && at_key ? pair.key : pair.value) : itemOf(node, part)
    offset = rangeStart(node) ?? (pair ? rangeStart(pair.key) : null) ?? offset
  }
  return offset
}

function itemOf(node: unknown, part: string): unknown {
  const items = (node as { items?: unknown[] } | null)?.items
  return Array.isArray(items) && !isMap(node) ? items[Number(part)] : null
}

function rangeStart(node: unknown): number | null {
  return (node as Node | null)?.range?.[0] ?? null
}
