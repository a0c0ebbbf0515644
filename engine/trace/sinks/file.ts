// The trace as a file, a JSON object a line.
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { requestJson } from '@svc/proof'
import { lineBuffer } from '../journal/line-buffer.js'
import { createRecall, fileBytes } from '../recall/recall.js'
import type { Sink } from './sink.js'

/**
 * The trace appended to the file; `flush` writes it to disk, and throws when that fails. Throws when the file cannot be opened. A
 * failed write is reported once and retried with the next line: no step fails because of its trace.
 */
export function fileSink(path: string, report: (line: string) => void): Sink {
  const { file, durable, buffer, flush, close } = opened(path, report)
  /** Offset of the next line. A lower bound when another process appends to the file as well. */
  let offset = durable ? fstatSync(file).size : 0
  const recall = durable ? createRecall(fileBytes(path), buffer.tryDrain) : null
  return {
    on_stdout: false,
    write: (line) => {
      const text = `${requestJson(line)}\n`
      if (!buffer.add(text)) {
        // The caller of /end_task gets an error and repeats the request: an acknowledged end must be in the file.
        if (line.kind === 'end') throw new Error(`the trace \`${path}\` cannot be written and its buffer is full`)
        if (line.kind === 'step' && line.task_id !== undefined) recall?.noteLost(line.task_id, offset)
        return
      }
      if (line.kind === 'step' && line.task_id !== undefined) recall?.noteStep(line.task_id, offset)
      offset += Buffer.byteLength(text)
    },
    settled: buffer.settled,
    recall,
    flush,
    close,
  }
}

/** Appends lines to a file, apart from the trace; as `fileSink`. */
export function openLines(path: string, report: (line: string) => void) {
  const { buffer, close } = opened(path, report)
  return { write: (line: string) => void buffer.add(`${line}\n`), close }
}

function opened(path: string, report: (line: string) => void) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const durable = fstatSync(file).isFile()
  if (durable && !endsWithNewline(path)) writeSync(file, '\n')
  const buffer = lineBuffer({ path, write: (bytes) => writeSync(file, bytes), onProblem: () => undefined, report })
  const flush = async () => {
    buffer.drain()
    if (durable) fsyncSync(file)
  }
  const close = async () => {
    try {
      await flush()
    } finally {
      closeSync(file)
    }
  }
  return { file, durable, buffer, flush, close }
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
