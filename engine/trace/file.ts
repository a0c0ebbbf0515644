// The trace as a file, a JSON object a line.
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Sink } from './sink.js'

/** Appends to the file; `flush` makes sure it is on disk. Throws when the file cannot be opened. */
export function fileSink(path: string): Sink {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  let waiting: string[] = []
  let scheduled = false
  const drain = () => {
    scheduled = false
    if (waiting.length === 0) return
    const text = waiting.join('')
    waiting = []
    writeSync(file, text)
  }
  return {
    write: (line) => {
      waiting.push(`${JSON.stringify(line)}\n`)
      if (scheduled) return
      scheduled = true
      setImmediate(drain)
    },
    flush: async () => {
      drain()
      fsyncSync(file)
    },
    close: async () => {
      drain()
      fsyncSync(file)
      closeSync(file)
    },
  }
}
