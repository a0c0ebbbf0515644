// The trace as a file, a JSON object a line.
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { requestJson } from '@svc/proof'
import { createRecall } from './recall.js'
import type { Sink, TraceLine } from './sink.js'

/** Characters kept for a disk that takes nothing, before lines are given up. */
const mostWaiting = 16 * 1024 * 1024

/**
 * Appends to the file; `flush` makes sure it is on disk, and throws when it is not. Throws when the file cannot be
 * opened. A write that fails is told to `report` once and tried again with the next line: no step fails for it.
 */
export function fileSink(path: string, report: (line: string) => void): Sink {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const durable = fstatSync(file).isFile()
  if (durable && !endsWithNewline(path)) writeSync(file, '\n')
  let waiting: string[] = []
  let size = 0
  let unwritten = Buffer.alloc(0)
  /** Resolves after the next writing; null while nothing waits. */
  let writing: Promise<void> | null = null
  let failing = false
  let lost = 0
  /** Where the next line will stand, if nobody else writes here: never beyond where it does. */
  let place = durable ? fstatSync(file).size : 0

  /** Writes what waits. What is left after a failure starts where the disk stopped, so that no line is torn. */
  const drain = () => {
    while (unwritten.length > 0 || waiting.length > 0) {
      if (unwritten.length === 0) {
        unwritten = Buffer.from(waiting.join(''))
        waiting = []
        size = 0
      }
      unwritten = unwritten.subarray(writeSync(file, unwritten))
    }
    if (failing) report(`the trace is being written to \`${path}\` again; ${lost} lines were lost`)
    failing = false
    lost = 0
  }
  const drainOrReport = () => {
    writing = null
    try {
      drain()
    } catch (error) {
      if (!failing) report(`the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`)
      failing = true
    }
  }
  const recall = durable ? createRecall(path, drainOrReport) : null
  const keep = (line: TraceLine) => {
    const text = `${requestJson(line)}\n`
    if (size + text.length > mostWaiting) {
      // An end that was answered must be in the file: the caller gets an error, and repeats it.
      if (line.kind === 'end') throw new Error(`the trace \`${path}\` cannot be written, and too much waits for it`)
      lost += 1
      return
    }
    waiting.push(text)
    size += text.length
    if (line.kind === 'step' && line.task_id !== undefined) recall?.noteStep(line.task_id, line.step_type, place)
    if (line.kind === 'end') recall?.noteEnd(line.task_id)
    place += Buffer.byteLength(text)
  }
  const flush = async () => {
    drain()
    if (durable) fsyncSync(file)
  }
  return {
    on_stdout: false,
    write: (line) => {
      keep(line)
      writing ??= new Promise((resolve) => {
        setImmediate(() => {
          drainOrReport()
          resolve()
        })
      })
    },
    settled: () => writing ?? Promise.resolve(),
    recall,
    flush,
    close: async () => {
      try {
        await flush()
      } finally {
        closeSync(file)
      }
    },
  }
}

/** False when a crash has cut off the last line: the next one must not be joined to it. */
function endsWithNewline(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const last = Buffer.alloc(1)
    return size === 0 || readSync(file, last, 0, 1, size - 1) === 0 || last.toString() === '\n'
  } finally {
    closeSync(file)
  }
}
