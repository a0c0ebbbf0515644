// Reads the history of an evicted task back from the trace file, so that limits, taints and gates outlive a restart.
import { statSync } from 'node:fs'
import type { Behavior } from '@svc/schemas'
import { type RunState, startsRun, stateAfter } from '../policy/runs.js'
import { readLines } from './read-lines.js'

export interface PastStep {
  readonly step: Behavior
  /** When it was recorded, ms since 1970. */
  readonly at: number
}

export interface Recall {
  /**
   * Whether the trace may have steps of a running task; a promise while the part from before this start is scanned.
   */
  readonly holds: (task_id: string) => boolean | Promise<boolean>
  /**
   * The steps of the latest run of the task, in order; empty after /end_task. Null when the part of the trace to read is
   * too long.
   */
  readonly steps: (task_id: string) => Promise<readonly PastStep[] | null>
  /** Called with the byte offset of each step's line before it is written. */
  readonly noteStep: (task_id: string, step_type: string, offset: number) => void
  /** Called for each line that ends a task. */
  readonly noteEnd: (task_id: string) => void
}

/** How far back the trace is read: about a second on a slow disk. */
const maxReadBytes = 256 * 1024 * 1024
/** Runs whose offset is remembered; the oldest is forgotten first. */
const maxRuns = 200_000

/** The head of each line of a step or an end; most lines need not be parsed further. */
const head = /^\{"kind":"(step|end)","recorded_at":"[^"]*","task_id":("(?:[^"\\]|\\.)*")/

/** The latest run of a task, by the offset of its first line. */
interface Run {
  readonly offset: number
  state: RunState
}

/** `flush` writes buffered lines to the file. */
export function createRecall(path: string, flush: () => void): Recall {
  const size_at_start = statSync(path).size
  const runs = new Map<string, Run>()
  let scan: Promise<void> | null = null
  let scanned = size_at_start === 0

  const noteStep = (task_id: string, step_type: string, offset: number) => {
    const known = runs.get(task_id)
    const state = known?.state ?? 'none'
    if (known !== undefined && !startsRun(state, step_type)) {
      known.state = stateAfter(state, step_type)
      return
    }
    // The run that began first is first in the map, and is forgotten first.
    runs.delete(task_id)
    runs.set(task_id, { offset, state: stateAfter(state, step_type) })
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
  }
  const noteEnd = (task_id: string) => {
    runs.delete(task_id)
  }
  /** The engine opens a task, and so waits for this scan, before it writes lines of it. */
  const scanTrace = async () => {
    const range = { start: Math.max(0, size_at_start - maxReadBytes), end: size_at_start }
    for await (const line of readLines(path, range)) {
      const [, kind, quoted] = (line.problem === null && head.exec(line.text)) || []
      if (line.problem !== null || quoted === undefined) continue
      const task_id = JSON.parse(quoted) as string
      if (kind === 'end') noteEnd(task_id)
      else noteStep(task_id, typeOfStep(line.text), line.offset)
    }
    scanned = true
  }
  const isRunning = (task_id: string) => runs.get(task_id)?.state === 'running'
  return {
    holds: (task_id) => {
      if (scanned) return isRunning(task_id)
      scan ??= scanTrace().catch(() => {
        scanned = true
      })
      return scan.then(() => isRunning(task_id))
    },
    steps: async (task_id) => {
      flush()
      const range = { start: runs.get(task_id)?.offset ?? 0, end: statSync(path).size }
      if (range.end - range.start > maxReadBytes) return null
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

/** Parses only lines that may end a run; other lines get a type that ends none. */
function typeOfStep(line: string): string {
  const past = /"task\.(end|error)"/.test(line) ? pastStep(line) : null
  return past?.step.step_type ?? 'step.unknown'
}

/** Null for a line that a crash has cut off: that step was never acknowledged. */
function pastStep(line: string): PastStep | null {
  try {
    const { kind: _kind, recorded_at, ...step } = JSON.parse(line) as Behavior & { kind: string; recorded_at: string }
    return { step, at: Date.parse(recorded_at) }
  } catch {
    return null
  }
}
