// What the trace file still knows of a task that memory has let go: so that a limit, a taint or a gate outlives it.
import { statSync } from 'node:fs'
import type { Behavior } from '@svc/schemas'
import { readLines } from './read-lines.js'

export interface PastStep {
  readonly step: Behavior
  /** When it was recorded, ms since 1970. */
  readonly at: number
}

export interface Recall {
  /** Whether the trace may hold steps of the task; a promise while the part written before this start is looked through. */
  readonly holds: (task_id: string) => boolean | Promise<boolean>
  /** The steps of the task in order; null when the part of the trace that would have to be read is too long. */
  readonly steps: (task_id: string) => Promise<readonly PastStep[] | null>
  /** To be called with each line's place before it is written. */
  readonly note: (task_id: string, offset: number) => void
  /** A task that is over: should its id come again, it is another one. */
  readonly forget: (task_id: string) => void
}

/** How far back the trace is read, bytes: about a second on a slow disk. */
const furthest = 256 * 1024 * 1024
/** Tasks whose place is remembered, the latest. */
const mostPlaces = 200_000

/** Each line of a step begins like this, so that most lines need not be parsed. */
const head = /^\{"kind":"step","recorded_at":"[^"]*","task_id":("(?:[^"\\]|\\.)*")/

/** `flush` brings what waits to be written into the file. */
export function createRecall(path: string, flush: () => void): Recall {
  const size_at_start = statSync(path).size
  const places = new Map<string, number>()
  let earlier: Promise<void> | null = null
  let looked = size_at_start === 0

  const note = (task_id: string, offset: number) => {
    if (places.has(task_id)) return
    places.set(task_id, offset)
    const [oldest] = places.keys()
    if (places.size > mostPlaces && oldest !== undefined) places.delete(oldest)
  }
  const lookBack = async () => {
    const found = new Map<string, number>()
    const range = { start: Math.max(0, size_at_start - furthest), end: size_at_start }
    for await (const line of readLines(path, range)) {
      const quoted = line.problem === null ? head.exec(line.text)?.[1] : undefined
      const task_id = quoted === undefined ? null : (JSON.parse(quoted) as string)
      if (task_id !== null && !found.has(task_id)) found.set(task_id, line.offset)
    }
    for (const [task_id, offset] of found) {
      places.delete(task_id)
      note(task_id, offset)
    }
    looked = true
  }
  return {
    holds: (task_id) => {
      if (looked) return places.has(task_id)
      earlier ??= lookBack().catch(() => {
        looked = true
      })
      return earlier.then(() => places.has(task_id))
    },
    steps: async (task_id) => {
      flush()
      const range = { start: places.get(task_id) ?? 0, end: statSync(path).size }
      if (range.end - range.start > furthest) return null
      const wanted = JSON.stringify(task_id)
      const steps: PastStep[] = []
      for await (const line of readLines(path, range)) {
        if (line.problem === null && head.exec(line.text)?.[1] === wanted) steps.push(pastStep(line.text))
      }
      return steps
    },
    note,
    forget: (task_id) => {
      places.delete(task_id)
    },
  }
}

function pastStep(line: string): PastStep {
  const { kind: _kind, recorded_at, ...step } = JSON.parse(line) as Behavior & { kind: string; recorded_at: string }
  return { step, at: Date.parse(recorded_at) }
}
