// The syntax that RE2 and the built-in engine read alike, as a tree. The built-in engine gets patterns written from the
// tree, never the author's text.

export type Tree =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly source: '^' | '$' | '\\b' }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly item: Tree; readonly min: number; readonly max: number }

/** Code points as inclusive ranges, sorted and separate. */
export type Ranges = readonly (readonly [first: number, last: number])[]

/** Matches the empty text. */
export const EMPTY: Tree = { kind: 'sequence', items: [] }

export const LAST_CODE_POINT = 0x10ffff

/** Joins ranges that overlap or touch. */
export function union(ranges: Ranges): Ranges {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0])
  const joined: [number, number][] = []
  for (const [first, last] of sorted) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

/** Every other code point. */
export function complement(ranges: Ranges): Ranges {
  const others: [number, number][] = []
  let from = 0
  for (const [first, last] of union(ranges)) {
    if (first > from) others.push([from, first - 1])
    from = last + 1
  }
  if (from <= LAST_CODE_POINT) others.push([from, LAST_CODE_POINT])
  return others
}

/** The tree as a pattern for RegExp with the flags `su`. */
export function source(tree: Tree): string {
  switch (tree.kind) {
    case 'set':
      return sourceOfSet(tree.ranges)
    case 'assert':
      return tree.source
    case 'sequence':
      return tree.items.map((item) => (item.kind === 'choice' ? `(?:${source(item)})` : source(item))).join('')
    case 'choice':
      return tree.items.map(source).join('|')
    case 'repeat':
      return `${tree.item.kind === 'set' ? source(tree.item) : `(?:${source(tree.item)})`}${times(tree)}`
  }
}

function sourceOfSet(ranges: Ranges): string {
  const [only] = ranges
  if (only === undefined) return '[]'
  if (only[0] === 0 && only[1] === LAST_CODE_POINT) return '.'
  if (ranges.length === 1 && only[0] === only[1]) return sourceOfCharacter(only[0])
  const parts = ranges.map(([first, last]) =>
    first === last ? sourceOfCharacter(first) : `${sourceOfCharacter(first)}-${sourceOfCharacter(last)}`,
  )
  return `[${parts.join('')}]`
}

function sourceOfCharacter(codePoint: number): string {
  const character = String.fromCodePoint(codePoint)
  return /[\dA-Za-z]/.test(character) ? character : `\\u{${codePoint.toString(16)}}`
}

function times({ min, max }: { min: number; max: number }): string {
  if (max === min) return min === 1 ? '' : `{${min}}`
  if (max !== Number.POSITIVE_INFINITY) return min === 0 && max === 1 ? '?' : `{${min},${max}}`
  return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`
}

/** The text that a pattern matches when it matches one text only; else null. */
export function literalOf(tree: Tree): string | null {
  if (tree.kind === 'sequence') {
    const parts = tree.items.map(literalOf)
    return parts.includes(null) ? null : parts.join('')
  }
  const only = tree.kind === 'set' && tree.ranges.length === 1 ? tree.ranges[0] : undefined
  return only !== undefined && only[0] === only[1] ? String.fromCodePoint(only[0]) : null
}
