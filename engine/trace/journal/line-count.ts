// How many lines of a journal wait. Many that an earlier process left are counted beside the work, so that a start does not read
// them all first.
import type { Segments } from './segments.js'

export interface LineCount {
  readonly change: (by: number) => void
  /** Without those that are not counted yet. */
  readonly count: () => number
  readonly isWhole: () => boolean
  /** Ends the counting. */
  readonly stop: () => Promise<void>
}

/** Counted before the start goes on. */
const countedAtOnce = 1024 * 1024
const newline = 0x0a

export function countLines(segments: Pick<Segments, 'countLines' | 'end' | 'stream'>, from: number): LineCount {
  const range = { start: from, end: segments.end() }
  const is_small = range.end - range.start <= countedAtOnce
  let lines = is_small ? segments.countLines(from) : 0
  let is_whole = is_small
  let stopping = false
  const countRest = async () => {
    try {
      for await (const chunk of segments.stream(range)) {
        if (stopping) return
        for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1
      }
    } catch {
      // What cannot be read is reported when it is to be sent.
    }
    is_whole = true
  }
  const counting = is_small ? Promise.resolve() : countRest()
  return {
    change: (by) => {
      lines += by
    },
    count: () => lines,
    isWhole: () => is_whole,
    stop: () => {
      stopping = true
      return counting
    },
  }
}
