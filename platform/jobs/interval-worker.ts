// Work that is done again and again in the background, one turn after the other.

export interface IntervalWorker {
  /** Resolves when the turn that may be under way has ended; there is none after it. */
  readonly close: () => Promise<void>
  readonly closed: () => boolean
}

/** Starts a turn so many ms after the last one ended. What a turn rejects with goes to `failed`, and the next one comes. */
export function startIntervalWorker(
  ms: number,
  work: (closed: () => boolean) => Promise<void>,
  failed: (error: unknown) => void,
): IntervalWorker {
  let timer: NodeJS.Timeout | null = null
  let turn: Promise<void> = Promise.resolve()
  let isClosed = false
  const closed = () => isClosed
  const plan = () => {
    if (isClosed) return
    timer = setTimeout(() => {
      turn = work(closed).catch(failed).then(plan)
    }, ms)
    timer.unref()
  }
  plan()
  return {
    closed,
    close: async () => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await turn
    },
  }
}
