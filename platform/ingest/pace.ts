// Long work in slices: between two of them the event loop answers other requests, such as probes.
import type { Sliced } from '@svc/engine/parts'

/** Undefined while the slice goes on; else waits until the work may go on. */
export type Pace = () => Promise<void> | undefined

/** The length of one slice, ms: a probe waits for one slice of this room, and for work that it cannot divide. */
const sliceMs = 10

/** The work of all who share a pace gets one slice in each turn of the event loop, in the order in which it waits. */
export function createPace(now: () => number = () => performance.now()): Pace {
  const waiting: (() => void)[] = []
  let began = Number.NEGATIVE_INFINITY
  const next = () => {
    began = now()
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }
  return () => {
    // A slice that ended long ago was not the work of this caller alone: the next one begins in a turn of its own.
    if (waiting.length === 0 && now() - began < sliceMs) return undefined
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next)
    })
  }
}

/** The result of work that can be interrupted. */
export async function inSlices<T>(pace: Pace, work: Sliced<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pace()
  }
}

/** The results of `act` for each item, in slices. */
export async function paced<T, R>(pace: Pace, items: readonly T[], act: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = []
  for (const [index, item] of items.entries()) {
    await pace()
    results.push(act(item, index))
  }
  return results
}
