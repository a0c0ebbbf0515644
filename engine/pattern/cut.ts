// Callers need only whether there is a match, not its length: optional parts at the end of a pattern, and in a search at
// its beginning, are removed.
import { EMPTY, type Tree } from './tree.js'

/** The tree without the optional parts of its end: `X*` is removed, `X{2,5}` is `X{2}`. Matches where the tree does. */
export function cutEnd(tree: Tree): Tree {
  return cut(tree, (items) => items.slice(0, -1), -1)
}

/** The same for the beginning. Matches anywhere in a text when the tree does. */
export function cutStart(tree: Tree): Tree {
  return cut(tree, (items) => items.slice(1), 0)
}

function cut(tree: Tree, without: (items: readonly Tree[]) => readonly Tree[], outer: 0 | -1): Tree {
  if (tree.kind === 'sequence') {
    let items = tree.items
    for (let last = items.at(outer); last !== undefined; last = items.at(outer)) {
      const left = cut(last, without, outer)
      items = without(items)
      if (left === EMPTY) continue
      return { kind: 'sequence', items: outer === 0 ? [left, ...items] : [...items, left] }
    }
    return EMPTY
  }
  if (tree.kind === 'choice') {
    const items = tree.items.map((item) => cut(item, without, outer))
    return items.includes(EMPTY) ? EMPTY : { kind: 'choice', items }
  }
  if (tree.kind === 'repeat') {
    if (tree.min === 0) return EMPTY
    if (tree.min === 1) return cut(tree.item, without, outer)
    return cut(tree.item, without, outer) === EMPTY ? EMPTY : { ...tree, max: tree.min }
  }
  return tree
}
