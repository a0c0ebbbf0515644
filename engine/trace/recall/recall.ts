// Reads the history of an evicted task back from the trace file, so that limits, taints and gates outlive a restart.
import { createReadStream, statSync } from 'node:fs'
import { parseJson } from '@svc/proof'
import type { Behavior } from '@svc/schemas'
import type { PastStep, PastSteps } from '../../task/past-steps.js'
import { stepOfEnd } from '../delivery/end-step.js'
import type { ByteRange, TraceBytes } from '../journal/segments.js'
import { type FileLine, linesIn } from './read-lines.js'
import { createTaskStarts } from './task-starts.js'

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
  /** True if the trace may have steps of the task; a promise while the part from before this start is scanned. */
  readonly holds: (task_id: string) => boolean | Promise<boolean>
  /** The steps of the task, its ends included. */
  readonly steps: (task_id: string) => Promise<PastSteps>
  /** Called with the byte offset of each step's line before it is written. */
  readonly noteStep: (task_id: string, offset: number) => void
  /** Called for each step that did not get into the trace: its task cannot be read back. */
  readonly noteLost: (task_id: string, offset: number) => void
  /** Called for steps that an earlier process lost; null: of several tasks. */
  readonly noteGap: (task_id: string | null, offset: number) => void
}

/** Bytes of the end of the trace that are read: about a second on a slow disk. */
const maxReadBytes = 256 * 1024 * 1024

/** The head of each line of a step, an end or a gap; most lines need not be parsed further. */
const head = /^\{"kind":"(step|end|gap)","recorded_at":"[^"]*","task_id":("(?:[^"\\]|\\.)*"|null)/

/** `flush` writes buffered lines to the trace. */
export function createRecall(bytes: TraceBytes, flush: () => void): Recall {
  const at_start = { start: bytes.start(), end: bytes.end() }
  const starts = createTaskStarts()
  let scan: Promise<void> | null = null
  let scanned = at_start.start === at_start.end
  /** Callbacks for the part that follows the scanned one. */
  const after: (() => void)[] = []

  /** The engine opens a task, and so waits for this scan, before it writes lines of it. */
  const scanTrace = async () => {
    const range = { ...at_start, start: Math.max(at_start.start, at_start.end - maxReadBytes) }
    for await (const line of linesIn(bytes.read(range), range.start)) {
      const { kind, task_id, text } = headOf(line)
      if (kind === 'gap') starts.noteGap(task_id, line.offset)
      // It may have been a step of any task, whose numbers then show it.
      if (isDamaged(line)) starts.noteGap(null, line.offset)
      if (task_id === null || (kind !== 'step' && kind !== 'end')) continue
      // An end without a number adds no step.
      if (kind === 'end' && pastStep(text) === null) continue
      // The first steps of a task may be in a part that is not read.
      const is_all = range.start === 0 && !starts.hasGaps()
      if (is_all || starts.has(task_id) || beginsTask(text)) starts.noteStep(task_id, line.offset)
      else starts.noteLost(task_id, line.offset)
    }
  }
  const scanOnce = async () => {
    // Without the trace, no task that ran before is whole.
    await scanTrace().catch(() => starts.noteGap(null, at_start.end))
    scanned = true
    for (const note of after.splice(0)) note()
  }
  return {
    holds: (task_id) => {
      if (scanned) return starts.has(task_id)
      scan ??= scanOnce()
      return scan.then(() => starts.has(task_id))
    },
    steps: async (task_id) => {
      flush()
      const known = starts.of(task_id)
      const end = bytes.end()
      const from = known?.offset ?? bytes.start()
      // The files with the first lines of the task may have been deleted.
      const start = Math.max(from, bytes.start(), end - maxReadBytes)
      const steps = await stepsIn(bytes, { start, end }, task_id)
      const has_all = known?.is_whole ?? (known === undefined || areAll(steps))
      return { steps, is_whole: start === from && has_all }
    },
    noteStep: starts.noteStep,
    noteLost: starts.noteLost,
    noteGap: (task_id, offset) => {
      if (scanned) starts.noteGap(task_id, offset)
      else after.push(() => starts.noteGap(task_id, offset))
    },
  }
}

async function stepsIn(bytes: TraceBytes, range: ByteRange, wanted: string) {
  const steps: PastStep[] = []
  for await (const line of linesIn(bytes.read(range), range.start)) {
    const { kind, task_id, text } = headOf(line)
    const past = task_id === wanted && kind !== 'gap' ? pastStep(text) : null
    if (past !== null) steps.push(past)
  }
  return steps
}

/** True if the numbers of the steps begin with 1 and leave none out. */
export function areAll(steps: readonly PastStep[]): boolean {
  const numbers = new Set(steps.map(({ step }) => step.step ?? 0))
  return Math.min(...numbers) === 1 && Math.max(...numbers) === numbers.size
}

/** True for a line that is not as an engine writes it, such as one that a crash has cut off. */
function isDamaged(line: FileLine): boolean {
  if (line.problem !== null) return true
  const { text } = line
  return text !== '' && !(text.startsWith('{"kind":"') && text.endsWith('}'))
}

/** All null for a line that cannot be read, or is about no task. */
function headOf(line: FileLine) {
  const text = line.problem === null ? line.text : ''
  const [, kind = null, quoted = 'null'] = head.exec(text) ?? []
  return { kind, task_id: parseJson(quoted) as string | null, text }
}

/** True for the first step of its task. */
function beginsTask(line: string): boolean {
  return pastStep(line)?.step.step === 1
}

/** Null for a line that a crash has cut off, whose step was never acknowledged, and for an end without a step. */
function pastStep(line: string): PastStep | null {
  try {
    const parsed = parseJson(line) as { kind: string; recorded_at: string; task_id: string } & Behavior
    const found = parsed.kind === 'end' ? stepOfEnd(parsed) : parsed
    if (found === null) return null
    const { kind: _kind, recorded_at, ...step } = found
    return { step, at: Date.parse(recorded_at) }
  } catch {
    return null
  }
}
