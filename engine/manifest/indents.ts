// How the lines of a file are indented, and how they were meant to be.

export function isContent(line: string): boolean {
  return /^\s*[^\s#]/.test(line)
}

export function indentOf(line = ''): number {
  return line.length - line.trimStart().length
}

/** Where the key of a line begins, behind the dashes of its item; null where there is no key. */
export function keyColumn(line: string): number | null {
  const [head] = /^\s*(?:- +)*(?=["']?[A-Za-z_][^:]*:(\s|$))/.exec(line) ?? []
  return head === undefined ? null : head.length
}

/** How deep a line is meant to be: as the key above it, or below it where that has no value yet. */
export function wantedIndent(lines: readonly string[], row: number): number {
  for (let above = row - 1; above >= 0; above--) {
    const key = keyColumn(lines[above] ?? '')
    if (key !== null) return /:\s*(#.*)?$/.test(lines[above] ?? '') ? key + 2 : key
  }
  return 0
}

/** For an item of a list, the nearest item above whose dash is one column beside its own; null where there is none. */
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
