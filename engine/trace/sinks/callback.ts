// The trace for a function of the program that runs the engine.
import type { Sink, TraceLine } from './sink.js'

/** Lines that wait for the function; further ones are dropped. */
const maxWaiting = 10_000

/**
 * Calls the function with each line, one after the other: a promise that it returns is awaited before the next line. What
 * it throws and what is dropped goes to `report`, and fails no step. `flush` and `close` wait for the lines before them.
 */
export function callbackSink(
  use: (line: TraceLine) => unknown,
  report: (line: string) => void,
  limit = maxWaiting,
): Sink {
  const waiting: TraceLine[] = []
  let running: Promise<void> | null = null
  let dropped = 0
  let failing = false

  const run = async () => {
    // The answer to the step leaves first.
    await undefined
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      try {
        await use(line)
        failing = false
      } catch (error) {
        if (!failing) report(`the trace callback failed: ${error instanceof Error ? error.message : String(error)}`)
        failing = true
      }
    }
    running = null
  }
  const drained = async () => {
    while (running !== null) await running
  }
  return {
    on_stdout: false,
    write: (line) => {
      if (waiting.length >= limit) {
        if (dropped === 0) report(`lines of the trace are dropped: ${limit} wait for the callback, the maximum`)
        dropped += 1
        return
      }
      if (dropped > 0) report(`${dropped} lines of the trace were dropped while the callback was busy`)
      dropped = 0
      waiting.push(line)
      running ??= run()
    },
    settled: async () => undefined,
    recall: null,
    flush: drained,
    close: async () => {
      await drained()
      if (dropped > 0) report(`${dropped} lines of the trace were dropped while the callback was busy`)
    },
  }
}
