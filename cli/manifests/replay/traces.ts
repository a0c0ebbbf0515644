// The traces of a replay, read line by line in constant memory.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { readTrace } from '@svc/engine'
import type { Replay, TraceReader } from '@svc/engine/parts'
import { fileError } from '@svc/proof/verify'
import { InputError } from '../../errors.js'
import type { Progress } from '../../import/progress.js'

export interface TraceFile {
  /** Null for standard input. */
  readonly path: string | null
  /** The file in messages. */
  readonly name: string
  readonly bytes: number
}

export const stdinName = '(stdin)'

/** The files, and the .jsonl and .ndjson files of the folders. Throws when one cannot be read. */
export function traceFiles(paths: readonly string[]): TraceFile[] {
  return [...new Set(paths)].flatMap((path) => {
    if (path === '-') return [{ path: null, name: stdinName, bytes: 0 }]
    try {
      const stat = statSync(path)
      if (!stat.isDirectory()) return [{ path, name: path, bytes: stat.size }]
      const files = filesIn(path)
      if (files.length === 0) throw new InputError(`\`${path}\` has no file that ends in .jsonl or .ndjson`)
      return files
    } catch (error) {
      throw fileError(path, error)
    }
  })
}

/** Links to files are followed; names that begin with a dot are left out. */
function filesIn(folder: string): TraceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(jsonl|ndjson)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(^|[\\/])\.[^.\\/]/.test(relative(folder, path)))
    .sort()
    .flatMap((path) => {
      // A link may lead nowhere, or to something that is not a file.
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat?.isFile() ? [{ path, name: path, bytes: stat.size }] : []
    })
}

export interface UnreadableLine {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly problem: string
}

export interface TraceFaults {
  readonly unreadable: (line: UnreadableLine) => void
  /** The file has no line that is a step. */
  readonly empty: (file: string) => void
}

export interface Reading {
  readonly replay: Replay
  readonly faults: TraceFaults
  readonly progress: Progress
}

const mebibyte = 1024 * 1024

/** The bytes of the file. */
export function bytesOf({ path }: TraceFile, stdin: Readable): Readable {
  return path === null ? stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
}

/** Adds the lines of a file to the replay. Rejects when the file cannot be read. */
export async function addTrace(bytes: Readable, name: string, { replay, faults, progress }: Reading): Promise<void> {
  let shown = 0
  const reader: TraceReader = {
    onLine: (reading, line) => {
      if (reading.kind === 'problem') faults.unreadable({ file: name, line, problem: reading.problem })
      replay.add(reading, name)
    },
    onProgress: (done) => {
      for (; shown < Math.floor(done / mebibyte); shown++) progress.tick()
    },
  }
  try {
    const steps = await readTrace(bytes as AsyncIterable<Buffer>, reader)
    if (steps === 0) faults.empty(name)
  } catch (error) {
    throw fileError(name, error)
  }
}
