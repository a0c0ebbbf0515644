// Spans of log indexes: `[first, last]`, both inclusive, as records and bundles hold them.
import { covers, type IndexSpan } from '@svc/proof'

/** Ascending log indexes as spans. */
export function spansOfIndexes(log_indexes: readonly number[]): IndexSpan[] {
  const spans: [number, number][] = []
  for (const index of log_indexes) {
    const last = spans.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else spans.push([index, index])
  }
  return spans
}

/** The first log index of `spans` that no span of `others` covers; null when all are covered. */
export function firstOutside(spans: readonly IndexSpan[], others: readonly IndexSpan[]): number | null {
  for (const [first, last] of spans)
    for (let index = first; index <= last; index++) {
      const around = others.find((span) => covers([span], index))
      if (around === undefined) return index
      index = around[1]
    }
  return null
}

/** The log indexes that spans of both lists cover; `spans` must be ascending. */
export function intersection(spans: readonly IndexSpan[], others: readonly IndexSpan[]): IndexSpan[] {
  const sorted = [...others].sort(([a], [b]) => a - b)
  const found: [number, number][] = []
  for (const [first, last] of spans) {
    let next = first
    for (const [from, to] of sorted) {
      const [begin, end] = [Math.max(next, from), Math.min(last, to)]
      if (begin > end) continue
      const before = found.at(-1)
      if (before !== undefined && before[1] === begin - 1) before[1] = end
      else found.push([begin, end])
      next = end + 1
    }
  }
  return found
}
