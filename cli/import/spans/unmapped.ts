// Spans that are no act of an agent: counted by name, so that an import leaves nothing out silently.
import type { Span } from '@svc/engine/parts'
import type { Remarks } from '../reading/reader.js'
import { countOf } from '../reading/words.js'

export interface Unmapped {
  readonly add: (span: Span) => void
  /** Counts a span that was sent again. */
  readonly repeat: () => void
  readonly remarks: () => Remarks
}

/** Names in memory and in the report for programs; others are counted together. */
const maxNames = 1000
/** Names, and characters of a name, in the report for people. */
const maxShown = 10
const maxNameLength = 60

export function createUnmapped(): Unmapped {
  const names = new Map<string, number>()
  let spans = 0
  let repeated = 0
  return {
    add: ({ name }) => {
      spans++
      if (names.has(name) || names.size < maxNames) names.set(name, (names.get(name) ?? 0) + 1)
    },
    repeat: () => {
      repeated++
    },
    remarks: () => {
      const sorted = [...names].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      const lines = [
        ...(spans === 0 ? [] : [`${spansWere(spans)} not mapped: ${shownNames(sorted, spans)}`]),
        ...(repeated === 0 ? [] : [`${spansWere(repeated)} in the files more than once`]),
      ]
      return {
        lines,
        members: { unmapped: spans, unmapped_spans: Object.fromEntries(sorted), repeated_spans: repeated },
      }
    },
  }
}

function spansWere(count: number): string {
  return `${countOf(count, 'span')} ${count === 1 ? 'was' : 'were'}`
}

function shownNames(sorted: readonly (readonly [string, number])[], spans: number): string {
  const shown = sorted.slice(0, maxShown)
  const others = spans - shown.reduce((sum, [, count]) => sum + count, 0)
  const texts = shown.map(([name, count]) => `${cut(name)} (${count})`)
  return [...texts, ...(others > 0 ? [`others (${others})`] : [])].join(', ')
}

function cut(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
}
