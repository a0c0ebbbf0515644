// The first of many things, the important ones before the others, in bounded memory.
import type { Listed } from './result.js'

export interface BoundedList<T> {
  /** `rank` 0 is the most important; `make` is called only for what is kept. */
  readonly add: (rank: number, make: () => T) => void
  readonly result: () => Listed<T>
}

export function createList<T>(max: number): BoundedList<T> {
  const ranks: T[][] = []
  let total = 0
  return {
    add: (rank, make) => {
      total += 1
      ranks[rank] ??= []
      const list = ranks[rank]
      if (list.length < max) list.push(make())
    },
    // An unused rank is a hole, which `flat` leaves out.
    result: () => ({ total, listed: ranks.flat().slice(0, max) }),
  }
}
