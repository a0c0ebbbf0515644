// Arithmetic of intervals of time; times are ms since 1970.

/** From `from` inclusive to `to` exclusive. */
export interface Window {
  readonly from: number
  readonly to: number
}

export interface Span<Kind> extends Window {
  readonly kind: Kind
}

interface Edge {
  readonly at: number
  readonly rank: number
  readonly change: 1 | -1
}

/** Spans that do not overlap and tell the strongest kind of each time; `strongest` lists the kinds, the strongest first. */
export function strongestSpans<Kind>(spans: readonly Span<Kind>[], strongest: readonly Kind[]): Span<Kind>[] {
  const edges: Edge[] = []
  for (const { from, to, kind } of spans) {
    if (from >= to) continue
    const rank = strongest.indexOf(kind)
    edges.push({ at: from, rank, change: 1 }, { at: to, rank, change: -1 })
  }
  edges.sort((a, b) => a.at - b.at)
  const open = strongest.map(() => 0)
  const found: Span<Kind>[] = []
  for (const [index, { at, rank, change }] of edges.entries()) {
    open[rank] = (open[rank] ?? 0) + change
    const next = edges[index + 1]?.at ?? at
    const kind = strongest[open.findIndex((count) => count > 0)]
    if (next > at && kind !== undefined) push(found, { from: at, to: next, kind })
  }
  return found
}

/** Adjacent spans of one kind are one. */
function push<Kind>(spans: Span<Kind>[], span: Span<Kind>): void {
  const last = spans.at(-1)
  if (last !== undefined && last.to === span.from && last.kind === span.kind)
    spans[spans.length - 1] = { from: last.from, to: span.to, kind: last.kind }
  else spans.push(span)
}

/** The parts of spans that are within windows, which are in order and do not overlap. */
export function within<S extends Window>(spans: readonly S[], windows: readonly Window[]): S[] {
  const found: S[] = []
  for (const span of spans)
    for (const window of windows) {
      const from = Math.max(span.from, window.from)
      const to = Math.min(span.to, window.to)
      // Most spans are within a window as they are: there may be thousands.
      if (from === span.from && to === span.to && from < to) found.push(span)
      else if (from < to) found.push({ ...span, from, to })
    }
  return found
}

/** The parts of a window that no span covers. */
export function uncovered(window: Window, spans: readonly Window[]): Window[] {
  const gaps: Window[] = []
  let reached = window.from
  const covering = spans.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from)
  for (const { from, to } of covering) {
    if (from > reached) gaps.push({ from: reached, to: Math.min(from, window.to) })
    reached = Math.max(reached, to)
    if (reached >= window.to) break
  }
  if (reached < window.to) gaps.push({ from: reached, to: window.to })
  return gaps.filter(({ from, to }) => from < to)
}

/** The index of the first of the ascending numbers that is at least `least`; their number when none is. */
export function firstFrom(ascending: readonly number[], least: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}
