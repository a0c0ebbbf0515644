// The trace as a file, a JSON object a line.
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { requestJson } from '@svc/proof'
import { createRecall } from './recall.js'
import type { Sink, TraceLine } from './sink.js'

/** Characters buffered while the disk rejects writes; further lines are lost. */
const maxBuffered = 16 * 1024 * 1024

/**
 * Appends to the file; `flush` writes it to disk, and throws when that fails. Throws when the file cannot be opened. A
 * failed write is reported once and retried with the next line: no step fails because of its trace.
 */
export function fileSink(path: string, report: (line: string) => void): Sink {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const durable = fstatSync(file).isFile()
  if (durable && !endsWithNewline(path)) writeSync(file, '\n')
  const buffer = lineBuffer(path, file, report)
  /** Resolves after the next write; null while the buffer is empty. */
  let writing: Promise<void> | null = null
  /** Offset of the next line. A lower bound when another process appends to the file as well. */
  let offset = durable ? fstatSync(file).size : 0

  const drain = () => {
    writing = null
    buffer.tryDrain()
  }
  const recall = durable ? createRecall(path, drain) : null
  const append = (line: TraceLine) => {
    const text = `${requestJson(line)}\n`
    if (!buffer.add(text)) {
      // The caller of /end_task gets an error and repeats the request: an acknowledged end must be in the file.
      if (line.kind === 'end') throw new Error(`the trace \`${path}\` cannot be written and its buffer is full`)
      return
    }
    if (line.kind === 'step' && line.task_id !== undefined) recall?.noteStep(line.task_id, line.step_type, offset)
    if (line.kind === 'end') recall?.noteEnd(line.task_id)
    offset += Buffer.byteLength(text)
  }
  const flush = async () => {
    buffer.drain()
    if (durable) fsyncSync(file)
  }
  return {
    on_stdout: false,
    write: (line) => {
      append(line)
      writing ??= new Promise((resolve) => {
        setImmediate(() => {
          drain()
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

/**
 * Appends lines to a file, apart from the trace. Throws when the file cannot be opened; a failed write is reported once and
 * retried with the next line.
 */
export function openLines(path: string, report: (line: string) => void) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const durable = fstatSync(file).isFile()
  if (durable && !endsWithNewline(path)) writeSync(file, '\n')
  const buffer = lineBuffer(path, file, report)
  return {
    write: (line: string) => {
      buffer.add(`${line}\n`)
      // The answer to the step leaves first.
      setImmediate(buffer.tryDrain)
    },
    close: async () => {
      try {
        buffer.drain()
        if (durable) fsyncSync(file)
      } finally {
        closeSync(file)
      }
    },
  }
}

interface LineBuffer {
  /** False when the buffer is full and the line is lost. */
  readonly add: (text: string) => boolean
  /** Writes all lines. Throws when the disk rejects them; the rest stays in the buffer. */
  readonly drain: () => void
  /** Writes all lines, or reports the first failure. */
  readonly tryDrain: () => void
}

function lineBuffer(path: string, file: number, report: (line: string) => void): LineBuffer {
  let lines: string[] = []
  let size = 0
  /** The rest of a partial write: it continues where the disk stopped, so that no line is torn. */
  let unwritten = Buffer.alloc(0)
  let failing = false
  let lost = 0

  const drain = () => {
    while (unwritten.length > 0 || lines.length > 0) {
      if (unwritten.length === 0) {
        unwritten = Buffer.from(lines.join(''))
        lines = []
        size = 0
      }
      unwritten = unwritten.subarray(writeSync(file, unwritten))
    }
    if (failing) report(`the trace is being written to \`${path}\` again; ${lost} lines were lost`)
    failing = false
    lost = 0
  }
  return {
    add: (text) => {
      if (size + text.length > maxBuffered) {
        lost += 1
        return false
      }
      lines.push(text)
      size += text.length
      return true
    },
    drain,
    tryDrain: () => {
      try {
        drain()
      } catch (error) {
        if (!failing) report(`the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`)
        failing = true
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
