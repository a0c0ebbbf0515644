// The visual order of the words of each line (Unicode Standard Annex #9, rule L2), after lines were broken.
import type { Inline, Page } from './engine.js'
import { withoutMarks } from './runs.js'

interface Line {
  inlines: Inline[]
}

/** Moves words of right-to-left text to where they are read, and takes away the marks where lines could break. */
export function orderPages(pages: readonly Page[]): void {
  for (const page of pages) {
    for (const { type, item } of page.items) {
      if (type === 'line') orderLine(item as Line)
    }
  }
}

function orderLine(line: Line): void {
  for (const inline of line.inlines) inline.text = withoutMarks(inline.text)
  const [first] = line.inlines
  if (first === undefined || !line.inlines.some(({ level = 0 }) => level > 0)) return
  let x = first.x
  line.inlines = inVisualOrder(line.inlines)
  for (const inline of line.inlines) {
    inline.x = x
    x += inline.width
  }
}

/** Spaces at the end of a line keep their place (rule L1). */
function inVisualOrder(inlines: readonly Inline[]): Inline[] {
  const end = inlines.findLastIndex(({ text }) => text.trim() !== '') + 1
  const words = inlines.slice(0, end)
  const highest = Math.max(0, ...words.map(({ level = 0 }) => level))
  for (let level = highest; level > 0; level--) reverseRuns(words, level)
  return words.concat(inlines.slice(end))
}

function reverseRuns(words: Inline[], from: number): void {
  const isIn = (index: number) => (words[index]?.level ?? 0) >= from
  for (let start = 0; start < words.length; start++) {
    if (!isIn(start)) continue
    let end = start
    while (end < words.length && isIn(end)) end++
    words.splice(start, end - start, ...words.slice(start, end).reverse())
    start = end
  }
}
