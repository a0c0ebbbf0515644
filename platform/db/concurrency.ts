// Limits how many transactions of one organization run at once, so that no organization takes all connections.
import { PlatformError } from '../errors.js'

/** Runs `work` within the limit of `name`. */
export type ConcurrencyLimits = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** The maximum queue length of one name; further work is rejected. */
const maxWaiting = 500

/** Per name, `max` run at once; the others wait in order of arrival. Rejects with UNAVAILABLE when the queue is full. */
export function createConcurrencyLimits(max: number): ConcurrencyLimits {
  const names = new Map<string, { running: number; readonly waiting: (() => void)[] }>()
  return async (name, work) => {
    const known = names.get(name) ?? { running: 0, waiting: [] }
    names.set(name, known)
    if (known.running < max) known.running += 1
    else if (known.waiting.length >= maxWaiting)
      throw new PlatformError('UNAVAILABLE', 'too many concurrent requests: retry in a moment')
    else await new Promise<void>((resolve) => known.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The next in the queue takes over the slot; without one the slot becomes free.
      const next = known.waiting.shift()
      if (next !== undefined) next()
      else if (--known.running === 0) names.delete(name)
    }
  }
}
