// What the log itself says has been taken out of it, by whom and why: erasures of values, and pruning of old entries.
import type { BundleVerdict } from '@svc/schemas'
import { isTime } from '../json/checks.js'

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

/** Nothing is pruned before it has been kept for so long, ms (docs/design/log.md §7). */
const leastKept = 184 * 86_400_000

/** What an opened leaf of the log says was removed, of what stood before it; null when it says no such thing. */
export function removalIn(
  { type, received_at }: { readonly type: string; readonly received_at: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): Removal | null {
  if (type !== 'erasure' && type !== 'prune') return null
  const said = values[type]
  if (typeof said !== 'object' || said === null) return null
  const { id, entries, ...rest } = said as Readonly<Record<string, unknown>>
  const done = type === 'erasure' ? 'erased' : 'pruned'
  const [by, at, reason, before] = [`${done}_by`, `${done}_at`, 'legal_basis', 'before'].map((name) => rest[name])
  const sound =
    Array.isArray(entries) &&
    entries.every((one) => isPlaces(one) && one[1] < log_index) &&
    [id, by, at, reason].every((one) => typeof one === 'string') &&
    (type === 'erasure' || (isTime(before) && Date.parse(before) <= Date.parse(received_at) - leastKept))
  if (!sound) return null
  const texts = { id, by, at, reason } as Pick<Removal, 'id' | 'by' | 'at' | 'reason'>
  return { type, ...texts, places: entries as Places[], before: type === 'prune' ? String(before) : null, log_index }
}

function isPlaces(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every(Number.isSafeInteger) &&
    value[0] >= 0 &&
    value[0] <= value[1]
  )
}

/** Whether one of these covers the place. */
export function covers(places: readonly Places[], place: number): boolean {
  return places.some(([first, last]) => place >= first && place <= last)
}

interface Run {
  readonly first: number
  last: number
  /** When what stands before it was received; '' where that is not here. */
  readonly after: string
}

/** Places that are gone, as they are found in ascending order, and who answers for them. */
export class Gone {
  readonly #runs: Run[] = []
  count = 0

  /** `after`: when the last record before it was received. */
  add(place: number, after: string): void {
    const run = this.#runs.at(-1)
    if (run?.last === place - 1) run.last = place
    else this.#runs.push({ first: place, last: place, after })
    this.count += 1
  }

  /**
   * The first place that nobody answers for, out of removals of this type; null when there is none. A prune answers for
   * nothing when it claims to be of what is older than a time, and of something that was received later.
   */
  notCovered(removals: readonly Removal[]): number | null {
    const sound = removals.filter((removal) => !this.#contradicts(removal))
    const given = merged(sound.flatMap(({ places }) => places))
    let at = 0
    for (const { first, last } of this.#runs) {
      while (at < given.length && (given[at] as Places)[1] < first) at += 1
      const [from, to] = given[at] ?? [Number.POSITIVE_INFINITY, 0]
      if (from > first) return first
      if (to < last) return to + 1
    }
    return null
  }

  /** How many of them a removal covers. */
  under({ places }: Removal): number {
    let count = 0
    for (const [from, to] of merged(places)) {
      for (let at = this.#firstRun((run) => run.last >= from); ; at += 1) {
        const run = this.#runs[at]
        if (run === undefined || run.first > to) break
        count += Math.min(to, run.last) - Math.max(from, run.first) + 1
      }
    }
    return count
  }

  /** INVARIANT (received_at never decreases): nothing after what was received at its time or later can be older. */
  #contradicts({ before, places }: Removal): boolean {
    if (before === null) return false
    const late = this.#firstRun(({ after }) => after >= before)
    return merged(places).some(([from, to]) => {
      const touched = this.#firstRun(({ last }) => last >= from)
      const run = this.#runs[Math.max(late, touched)]
      return run !== undefined && run.first <= to
    })
  }

  /** Index of the first run from which on this holds. */
  #firstRun(holds: (run: Run) => boolean): number {
    let [low, high] = [0, this.#runs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (holds(this.#runs[middle] as Run)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** The same places in ascending order, those that touch or overlap in one. */
function merged(places: readonly Places[]): Places[] {
  const one: [number, number][] = []
  for (const [first, last] of [...places].sort(([a], [b]) => a - b)) {
    const before = one.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else one.push([first, last])
  }
  return one
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
