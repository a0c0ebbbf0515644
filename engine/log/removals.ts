// What the log itself says has been taken out of it, by whom and why: erasures of values, and pruning of old entries.
import type { BundleVerdict } from '@svc/schemas'

/** First and last place of entries that stand side by side. */
export type Places = readonly [first: number, last: number]

export interface Removal {
  readonly type: 'erasure' | 'prune'
  readonly id: string
  readonly by: string
  readonly at: string
  /** Legal basis. */
  readonly reason: string
  readonly places: readonly Places[]
  /** A prune: everything it took was received before this. */
  readonly before: string | null
  readonly log_index: number
}

/** What an opened leaf of the log says was removed, of what stood before it; null when it says no such thing. */
export function removalIn(type: string, values: Readonly<Record<string, unknown>>, log_index: number): Removal | null {
  if (type !== 'erasure' && type !== 'prune') return null
  const said = values[type]
  if (typeof said !== 'object' || said === null) return null
  const { id, entries, ...rest } = said as Readonly<Record<string, unknown>>
  const done = type === 'erasure' ? 'erased' : 'pruned'
  const [by, at, reason, before] = [`${done}_by`, `${done}_at`, 'legal_basis', 'before'].map((name) => rest[name])
  const sound =
    Array.isArray(entries) &&
    entries.every((one) => isPlaces(one) && one[1] < log_index) &&
    [id, by, at, reason].every((one) => typeof one === 'string')
  if (!sound) return null
  const texts = { id, by, at, reason } as Pick<Removal, 'id' | 'by' | 'at' | 'reason'>
  return { type, ...texts, places: entries as Places[], before: typeof before === 'string' ? before : null, log_index }
}

function isPlaces(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger) && value[0] <= value[1]
}

/** Whether one of these covers the place. */
export function covers(places: readonly Places[], place: number): boolean {
  return places.some(([first, last]) => place >= first && place <= last)
}

/** Places that are gone, as they are found in ascending order, and who answers for them. */
export class Gone {
  readonly #places: [number, number][] = []
  count = 0

  add(place: number): void {
    const last = this.#places.at(-1)
    if (last !== undefined && last[1] === place - 1) last[1] = place
    else this.#places.push([place, place])
    this.count += 1
  }

  /** The first place that no removal of this type covers; null when all are covered. */
  notCovered(removals: readonly Removal[]): number | null {
    const given = removals.flatMap(({ places }) => places).sort(([a], [b]) => a - b)
    for (const [first, last] of this.#places) {
      let next = first
      for (const [from, to] of given) if (from <= next && to >= next) next = to + 1
      if (next <= last) return next
    }
    return null
  }

  /** How many of them a removal covers. */
  under({ places }: Removal): number {
    let count = 0
    for (const [from, to] of places)
      for (const [first, last] of this.#places) count += Math.max(0, Math.min(to, last) - Math.max(from, first) + 1)
    return count
  }
}

export type RemovalView = BundleVerdict['removals'][number]

/** Removals of something that is in the period, as a verdict lists them. */
export function removalViews(removals: readonly Removal[], erased: Gone, pruned: Gone): RemovalView[] {
  return removals
    .map(({ places: _, before: _before, ...removal }, index) => ({
      ...removal,
      entries: (removal.type === 'erasure' ? erased : pruned).under(removals[index] as Removal),
    }))
    .filter(({ entries }) => entries > 0)
    .sort((a, b) => a.log_index - b.log_index)
}
