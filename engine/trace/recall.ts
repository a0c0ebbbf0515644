// What the trace file still knows of a task that memory has let go: so that a limit, a taint or a gate outlives it.
import { statSync } from 'node:fs'
import type { Behavior } from '@svc/schemas'
import { readLines } from './read-lines.js'
import { type RunState, startsRun, stateAfter } from './runs.js'

export interface PastStep {
  readonly step: Behavior
  /** When it was recorded, ms since 1970. */
  readonly at: number
}

export interface Recall {
  /**
   * Whether the trace may hold steps of a run of the task that has not ended; a promise while the part written before
   * this start is looked through.
   */
  readonly holds: (task_id: string) => boolean | Promise<boolean>
  /**
   * The steps of the latest run of the task, in order; none after /end_task. Null when the part of the trace that would
   * have to be read is too long.
   */
  readonly steps: (task_id: string) => Promise<readonly PastStep[] | null>
  /** To be called with the place of each line of a step before it is written. */
  readonly noteStep: (task_id: string, step_type: string, offset: number) => void
  /** To be called for each line that ends a task. */
  readonly noteEnd: (task_id: string) => void
}

/** How far back the trace is read, bytes: about a second on a slow disk. */
const furthest = 256 * 1024 * 1024
/** Runs whose place is remembered, the latest. */
const mostRuns = 200_000

/** Each line of a step or an end begins like this, so that most lines need not be parsed. */
const head = /^\{"kind":"(step|end)","recorded_at":"[^"]*","task_id":("(?:[^"\\]|\\.)*")/

/** Where the latest run of a task begins. */
interface Run {
  readonly offset: number
  state: RunState
}

/** `flush` brings what waits to be written into the file. */
export function createRecall(path: string, flush: () => void): Recall {
  const size_at_start = statSync(path).size
  const runs = new Map<string, Run>()
  let earlier: Promise<void> | null = null
  let looked = size_at_start === 0

  const noteStep = (task_id: string, step_type: string, offset: number) => {
    const known = runs.get(task_id)
    const state = known?.state ?? 'none'
    if (known !== undefined && !startsRun(state, step_type)) {
      known.state = stateAfter(state, step_type)
      return
    }
    // The run that began first stands first, and is forgotten first.
    runs.delete(task_id)
    runs.set(task_id, { offset, state: stateAfter(state, step_type) })
    const [oldest] = runs.keys()
    if (runs.size > mostRuns && oldest !== undefined) runs.delete(oldest)
  }
  const noteEnd = (task_id: string) => {
    runs.delete(task_id)
  }
  /** The engine opens a task, and so waits for this, before it writes of it: what is noted here is older. */
  const lookBack = async () => {
    const range = { start: Math.max(0, size_at_start - furthest), end: size_at_start }
    for await (const line of readLines(path, range)) {
      const [, kind, quoted] = (line.problem === null && head.exec(line.text)) || []
      if (line.problem !== null || quoted === undefined) continue
      const task_id = JSON.parse(quoted) as string
      if (kind === 'end') noteEnd(task_id)
      else noteStep(task_id, typeOfStep(line.text), line.offset)
    }
    looked = true
  }
  const isRunning = (task_id: string) => runs.get(task_id)?.state === 'running'
  return {
    holds: (task_id) => {
      if (looked) return isRunning(task_id)
      earlier ??= lookBack().catch(() => {
        looked = true
      })
      return earlier.then(() => isRunning(task_id))
    },
    steps: async (task_id) => {
      flush()
      const range = { start: runs.get(task_id)?.offset ?? 0, end: statSync(path).size }
      if (range.end - range.start > furthest) return null
      return stepsOfLastRun(path, range, task_id)
    },
    noteStep,
    noteEnd,
  }
}

async function stepsOfLastRun(path: string, range: { start: number; end: number }, task_id: string) {
  const wanted = JSON.stringify(task_id)
  let steps: PastStep[] = []
  let state: RunState = 'none'
  for await (const line of readLines(path, range)) {
    const [, kind, quoted] = (line.problem === null && head.exec(line.text)) || []
    if (line.problem !== null || quoted !== wanted) continue
    const past = kind === 'step' ? pastStep(line.text) : null
    if (kind === 'step' && past === null) continue
    if (past === null || startsRun(state, past.step.step_type)) steps = []
    if (past !== null) steps.push(past)
    state = past === null ? 'none' : stateAfter(state, past.step.step_type)
  }
  return steps
}

/** Only what may end a run is parsed: a step that does not name one of these types is of another. */
function typeOfStep(line: string): string {
  const past = /"task\.(end|error)"/.test(line) ? pastStep(line) : null
  return past?.step.step_type ?? 'step.unknown'
}

/** Null for a line that a crash has cut off: that step was never answered. */
function pastStep(line: string): PastStep | null {
  try {
    const { kind: _kind, recorded_at, ...step } = JSON.parse(line) as Behavior & { kind: string; recorded_at: string }
    return { step, at: Date.parse(recorded_at) }
  } catch {
    return null
  }
}
