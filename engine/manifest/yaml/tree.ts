// Walks a YAML document without recursion, so that its depth cannot exhaust the stack.
import type { Alias, Node } from 'yaml'
import { yaml } from './yaml.js'

export type Targets = ReadonlyMap<Alias, Node>

/** The nodes of a tree in the order of the text, keys before their values. */
export function* nodesOf(root: Node | null): Generator<Node> {
  const { isCollection, isPair } = yaml()
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const node = pending.pop()
    if (isPair(node)) pending.push(node.value, node.key)
    else if (node !== null && node !== undefined) {
      yield node as Node
      if (isCollection(node))
        for (let index = node.items.length - 1; index >= 0; index--) pending.push(node.items[index])
    }
  }
}

/** The target of each alias: the last node before it that has its anchor. */
export function targetsOf(root: Node | null): Targets {
  const { isAlias } = yaml()
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  for (const node of nodesOf(root)) {
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target !== undefined) targets.set(node, target)
    } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
  }
  return targets
}

/** The plain value of a tree whose keys are text; the targets of aliases are shared, not copied. */
export function plainValue(root: Node | null, targets: Targets): unknown {
  const { isAlias, isCollection, isMap, isScalar, isSeq } = yaml()
  const values = new Map<unknown, unknown>()
  const pending: Node[] = []
  const plain = (node: unknown): unknown => {
    if (isAlias(node)) return plain(targets.get(node))
    if (isScalar(node)) return node.value
    if (!isCollection(node)) return null
    const known = values.get(node)
    if (known !== undefined) return known
    const made = isSeq(node) ? [] : {}
    values.set(node, made)
    pending.push(node)
    return made
  }
  const value = plain(root)
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const made = values.get(node)
    if (isMap(node))
      for (const { key, value: member } of node.items)
        (made as Record<string, unknown>)[isScalar(key) ? String(key.value) : ''] = plain(member)
    else if (isSeq(node)) for (const item of node.items) (made as unknown[]).push(plain(item))
  }
  return value
}
