// How many transactions of one organization run at once: none may take every connection from the others.
import { PlatformError } from '../errors.js'

export type Turns = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Who waits behind this many of the same name is told to come back. */
const mostWaiting = 500

/** `most` of each name run at once; the others wait in the order they came. Rejects with UNAVAILABLE when too many do. */
export function createTurns(most: number): Turns {
  const names = new Map<string, { running: number; readonly waiting: (() => void)[] }>()
  return async (name, work) => {
    const known = names.get(name) ?? { running: 0, waiting: [] }
    names.set(name, known)
    if (known.running < most) known.running += 1
    else if (known.waiting.length >= mostWaiting)
      throw new PlatformError('UNAVAILABLE', 'too much is asked at once: try again shortly')
    else await new Promise<void>((resolve) => known.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever waits takes over the place; it is free only when nobody does.
      const next = known.waiting.shift()
      if (next !== undefined) next()
      else if (--known.running === 0) names.delete(name)
    }
  }
}
