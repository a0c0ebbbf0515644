// The indentation of the lines of a file, and the intended one.

export function isContent(line: string): boolean {
  return /^\s*[^\s#]/.test(line)
}

export function indentOf(line = ''): number {
  return line.length - line.trimStart().length
}

/** The column of a line's key, after the dashes of its item; null for a line without a key. */
export function keyColumn(line: string): number | null {
  const [head] = /^\s*(?:- +)*(?=["']?[A-Za-z_][^:]*:(\s|$))/.exec(line) ?? []
  return head === undefined ? null : head.length
}

/** The intended indent of a line: that of the key above, or two more when that key has no value yet. */
export function wantedIndent(lines: readonly string[], row: number): number {
  for (let above = row - 1; above >= 0; above--) {
    const key = keyColumn(lines[above] ?? '')
    if (key !== null) return /:\s*(#.*)?$/.test(lines[above] ?? '') ? key + 2 : key
  }
  return 0
}

/**
 * The key whose column a line is probably meant to have: of the keys that the line could continue, the one whose column is
 * nearest; of two that are as near, the one directly above.
 */
export function nearestKey(
  lines: readonly string[],
  row: number,
  indent: number,
): { readonly row: number; readonly column: number } | null {
  let best: { row: number; column: number } | null = null
  let outermost = Number.POSITIVE_INFINITY
  for (let above = row - 1; above >= 0; above--) {
    const line = lines[above] ?? ''
    const column = isContent(line) ? keyColumn(line) : null
    // A key that is not further out than one below it is closed.
    if (column === null || column >= outermost) continue
    outermost = column
    if (column === indent) continue
    if (best === null || Math.abs(column - indent) < Math.abs(best.column - indent)) best = { row: above, column }
  }
  return best
}

/** For a list item, the nearest item above whose dash is one column away; null without one. */
export function itemAbove(lines: readonly string[], row: number): number | null {
  const isItem = (line = '') => /^\s*- /.test(line)
  if (!isItem(lines[row])) return null
  const indent = indentOf(lines[row])
  for (let above = row - 1; above >= 0; above--) {
    if (isItem(lines[above]) && Math.abs(indentOf(lines[above]) - indent) === 1) return above
  }
  return null
}

export function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`
}
