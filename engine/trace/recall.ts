// Reads the history of an evicted task back from the trace file, so that limits, taints and gates outlive a restart.
import { createReadStream, statSync } from 'node:fs'
import { type Behavior, canonicalType } from '@svc/schemas'
import { type RunState, startsRun, stateAfter } from '../policy/runs.js'
import { lastSteps } from './last-steps.js'
import { type ByteRange, type FileLine, linesIn } from './read-lines.js'
import { createTaskRuns } from './task-runs.js'

export interface PastStep {
  readonly step: Behavior
  /** When it was recorded, ms since 1970. */
  readonly at: number
}

/** The bytes of a trace, by their offset in all that was ever written to it. */
export interface TraceBytes {
  /** The first byte that is kept. */
  readonly start: () => number
  readonly end: () => number
  readonly read: (range: ByteRange) => AsyncIterable<Buffer>
}

/** Those of a file. */
export function fileBytes(path: string): TraceBytes {
  return {
    start: () => 0,
    end: () => statSync(path).size,
    read: async function* ({ start, end }) {
      if (start < end) yield* createReadStream(path, { start, end: end - 1 })
    },
  }
}

export interface Recall {
  /**
   * Whether the trace may have steps of a running task; a promise while the part from before this start is scanned.
   */
  readonly holds: (task_id: string) => boolean | Promise<boolean>
  /**
   * The steps of the latest run of the task, in order; empty after /end_task. Null when the trace does not have all of them, or
   * the part of it to read is too long.
   */
  readonly steps: (task_id: string) => Promise<readonly PastStep[] | null>
  /** The number of the last step of a task that had ended at the start; 0 when the trace has none. After `holds`. */
  readonly lastStep: (task_id: string) => number
  /** Called with the byte offset of each step's line before it is written. */
  readonly noteStep: (task_id: string, step_type: string, offset: number) => void
  /** Called for each line that ends a task. */
  readonly noteEnd: (task_id: string) => void
  /** Called for each step that did not get into the trace: its run cannot be read back. */
  readonly noteLost: (task_id: string, step_type: string, offset: number) => void
  /** Called for steps that an earlier process lost; null: of several tasks. */
  readonly noteGap: (task_id: string | null, offset: number) => void
}

/** How far back the trace is read: about a second on a slow disk. */
const maxReadBytes = 256 * 1024 * 1024

/** The head of each line of a step, an end or a gap; most lines need not be parsed further. */
const head = /^\{"kind":"(step|end|gap)","recorded_at":"[^"]*","task_id":("(?:[^"\\]|\\.)*"|null)/

/** `flush` writes buffered lines to the trace. */
export function createRecall(bytes: TraceBytes, flush: () => void): Recall {
  const at_start = { start: bytes.start(), end: bytes.end() }
  const runs = createTaskRuns()
  const last_steps = lastSteps()
  let scan: Promise<void> | null = null
  let scanned = at_start.start === at_start.end
  /** What follows the part that is scanned. */
  const after: (() => void)[] = []

  /** The engine opens a task, and so waits for this scan, before it writes lines of it. */
  const scanTrace = async () => {
    const range = { ...at_start, start: Math.max(at_start.start, at_start.end - maxReadBytes) }
    for await (const line of linesIn(bytes.read(range), range.start)) {
      const { kind, task_id, text } = headOf(line)
      if (kind === 'gap') runs.noteGap(task_id, line.offset)
      const end = task_id !== null && endsTask(kind, text) ? pastStep(text)?.step.step : undefined
      if (task_id !== null && end !== undefined) last_steps.note(task_id, end)
      if (kind === 'end' && task_id !== null) runs.noteEnd(task_id)
      if (kind !== 'step' || task_id === null) continue
      // The first steps of a run may be in a part that is not read.
      const is_all = range.start === 0 && !runs.hasGaps()
      const is_whole = is_all || runs.has(task_id) || last_steps.of(task_id) > 0 || beginsTask(text)
      if (is_whole) runs.noteStep(task_id, typeOfStep(text), line.offset)
      else runs.noteLost(task_id, typeOfStep(text), line.offset)
    }
  }
  const scanOnce = async () => {
    // Without the trace, no task that ran before is whole.
    await scanTrace().catch(() => runs.noteGap(null, at_start.end))
    scanned = true
    for (const note of after.splice(0)) note()
  }
  return {
    holds: (task_id) => {
      if (scanned) return runs.isRunning(task_id)
      scan ??= scanOnce()
      return scan.then(() => runs.isRunning(task_id))
    },
    steps: async (task_id) => {
      flush()
      const known = runs.startOf(task_id)
      const start = known ?? bytes.start()
      const end = bytes.end()
      // The files with the first lines of the run may have been deleted.
      if (known === null || start < bytes.start() || end - start > maxReadBytes) return null
      return stepsOfLastRun(bytes, { start, end }, task_id)
    },
    lastStep: last_steps.of,
    noteStep: runs.noteStep,
    noteEnd: runs.noteEnd,
    noteLost: runs.noteLost,
    noteGap: (task_id, offset) => {
      if (scanned) runs.noteGap(task_id, offset)
      else after.push(() => runs.noteGap(task_id, offset))
    },
  }
}

async function stepsOfLastRun(bytes: TraceBytes, range: ByteRange, wanted: string) {
  let steps: PastStep[] = []
  let state: RunState = 'none'
  for await (const line of linesIn(bytes.read(range), range.start)) {
    const { kind, task_id, text } = headOf(line)
    if (task_id !== wanted || kind === 'gap') continue
    const past = kind === 'step' ? pastStep(text) : null
    if (kind === 'step' && past === null) continue
    if (past === null || startsRun(state, past.step.step_type)) steps = []
    if (past !== null) steps.push(past)
    state = past === null ? 'none' : stateAfter(state, past.step.step_type)
  }
  return steps
}

/** All null for a line that cannot be read, or is about no task. */
function headOf(line: FileLine) {
  const text = line.problem === null ? line.text : ''
  const [, kind = null, quoted = 'null'] = head.exec(text) ?? []
  return { kind, task_id: JSON.parse(quoted) as string | null, text }
}

/** Whether the line may have the last number of its task; it is parsed for it. */
function endsTask(kind: string | null, text: string): boolean {
  return kind === 'end' || (kind === 'step' && text.includes('"task.end"'))
}

/** Parses only lines that may end a run; other lines get a type that ends none. */
function typeOfStep(line: string): string {
  const past = /"task\.(end|error)"/.test(line) ? pastStep(line) : null
  return past?.step.step_type ?? 'step.unknown'
}

/** True for a step that has none of its task before it. */
function beginsTask(line: string): boolean {
  const { step } = pastStep(line) ?? {}
  return step?.step === 1 || canonicalType(step?.step_type ?? '') === 'task.start'
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
