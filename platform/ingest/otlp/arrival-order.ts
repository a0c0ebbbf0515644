// Requests of one process that share a trace are handled one after the other, in the order of their arrival: an exporter
// that is closed sends all that it has at once.

export interface ArrivalOrder {
  /** Acts when all earlier acts with one of the keys have settled. */
  readonly run: <T>(keys: readonly string[], act: () => Promise<T>) => Promise<T>
}

export function createArrivalOrder(): ArrivalOrder {
  /** The last act of each key that waits or runs. */
  const last = new Map<string, Promise<unknown>>()
  return {
    run: async (keys, act) => {
      const earlier = keys.map((key) => last.get(key))
      const own = Promise.allSettled(earlier).then(act)
      for (const key of keys) last.set(key, own)
      try {
        return await own
      } finally {
        for (const key of keys) if (last.get(key) === own) last.delete(key)
      }
    },
  }
}
