// Background work that repeats after an interval, one run at a time.

export interface IntervalWorker {
  /** Stops the worker. Resolves when the current run, if any, has ended. */
  readonly close: () => Promise<void>
  readonly closed: () => boolean
}

/** Starts a run `ms` after the last one ended. A rejection of `work` goes to `failed` and does not stop the worker. */
export function startIntervalWorker(
  ms: number,
  work: (closed: () => boolean) => Promise<void>,
  failed: (error: unknown) => void,
): IntervalWorker {
  let timer: NodeJS.Timeout | null = null
  let current: Promise<void> = Promise.resolve()
  let isClosed = false
  const closed = () => isClosed
  const schedule = () => {
    if (isClosed) return
    timer = setTimeout(() => {
      current = work(closed).catch(failed).then(schedule)
    }, ms)
    timer.unref()
  }
  schedule()
  return {
    closed,
    close: async () => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await current
    },
  }
}
