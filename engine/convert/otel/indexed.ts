// Messages with an attribute for each of their members, such as `gen_ai.prompt.0.content` or
// `llm.output_messages.0.message.tool_calls.0.tool_call.function.name`.
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Attributes } from './any-value.js'

/** The longest name has eight parts after its prefix. */
const maxParts = 8

/** The messages of the first of the prefixes that the attributes have; undefined without one. */
export function indexedMessages(attributes: Attributes, prefixes: readonly string[]): JsonMap[] | undefined {
  const trees = new Map(prefixes.map((prefix) => [prefix, node()]))
  for (const [name, value] of attributes) {
    const [, prefix = '', index = '', rest = ''] = /^(\w+(?:\.[a-z_]+)*?)\.(\d{1,4})\.(.+)$/.exec(name) ?? []
    const tree = trees.get(prefix)
    const parts = rest.split('.', maxParts)
    if (tree !== undefined) put(tree, [index, ...parts], value)
  }
  const found = [...trees.values()].find((tree) => Object.keys(tree).length > 0)
  return found === undefined ? undefined : listOf(found).map((given) => plain(messageIn(given)))
}

type Node = Record<string, unknown>

/** Without a prototype: names are those of the sender. */
function node(): Node {
  return Object.create(null) as Node
}

function put(tree: Node, path: readonly string[], value: unknown): void {
  let at = tree
  for (const part of path.slice(0, -1)) {
    const next = at[part] ?? node()
    // The sender may give an object of its own here.
    if (typeof next !== 'object' || Object.getPrototypeOf(next) !== null) return
    at[part] = next
    at = next as Node
  }
  at[path.at(-1) ?? ''] ??= value
}

/** In the order of the indexes. */
function listOf(tree: Node): Node[] {
  return Object.entries(tree)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, value]) => value)
    .filter((value): value is Node => typeof value === 'object' && value !== null)
}

function messageIn(given: Node): JsonMap {
  const { contents, tool_calls, ...message } = inner(given, 'message')
  return {
    ...message,
    ...(isNode(contents) && { content: listOf(contents).map((part) => inner(part, 'message_content')) }),
    ...(isNode(tool_calls) && { tool_calls: listOf(tool_calls).map((call) => plainCall(inner(call, 'tool_call'))) }),
  }
}

function plainCall({ function: called, ...call }: JsonMap): JsonMap {
  return isNode(called) ? { ...call, ...called } : call
}

/** The member that OpenInference puts around the others. */
function inner(given: Node, name: string): JsonMap {
  const value = given[name]
  return { ...(isNode(value) ? value : given) }
}

/** Without members that are parts of the tree. */
function plain(message: JsonMap): JsonMap {
  const isValue = (value: unknown) => typeof value !== 'object' || value === null || Array.isArray(value)
  return Object.fromEntries(Object.entries(message).filter(([, value]) => isValue(value)))
}

function isNode(value: unknown): value is Node {
  return isMap(value)
}
