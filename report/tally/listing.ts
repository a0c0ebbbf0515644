// Bounded lists that know how many rows they leave out.
import type { BoundedRows } from '../content/report-data.js'

export interface BoundedList<T> {
  readonly add: (row: T) => void
  readonly rows: readonly T[]
  readonly listing: () => BoundedRows<T>
}

/** Keeps the first `limit` rows that are added. */
export function boundedList<T>(limit: number): BoundedList<T> {
  const rows: T[] = []
  let more = 0
  return {
    rows,
    add: (row) => {
      if (rows.length < limit) rows.push(row)
      else more += 1
    },
    listing: () => ({ rows, more }),
  }
}

/** The first `limit` rows. */
export function firstOf<T>(rows: readonly T[], limit: number): BoundedRows<T> {
  return { rows: rows.slice(0, limit), more: Math.max(0, rows.length - limit) }
}

/** By code unit, so that the order is the same on every machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Counts as an object; names can be any text. */
export function counted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => byText(a, b)))
}

export function addTo<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
