// The traces of a replay, read line by line in constant memory.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Replay, readBatches, readTraceLine } from '@svc/engine'
import { fileError } from '@svc/proof/verify'
import { InputError } from '../errors.js'
import type { Progress } from '../import/progress.js'

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

const mebibyte = 1024 * 1024

/** Adds the lines of a file to the replay. Rejects when the file cannot be read. */
export async function addTrace({ path, name }: TraceFile, replay: Replay, faults: TraceFaults, progress: Progress) {
  const bytes = path === null ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
  let steps = 0
  let shown = 0
  const addLine = (text: string, number: number) => {
    if (text.trim() === '') return
    const line = readTraceLine(text)
    if (line.kind === 'step') steps += 1
    if (line.kind === 'problem') faults.unreadable({ file: name, line: number, problem: line.problem })
    replay.add(line, name)
  }
  try {
    for await (const { first, lines, end } of readBatches(bytes as AsyncIterable<Buffer>)) {
      for (let index = 0; index < lines.length; index++) {
        const line = lines[index] as (typeof lines)[number]
        const number = first + index + 1
        if (typeof line === 'string') addLine(line, number)
        else {
          faults.unreadable({ file: name, line: number, problem: line.problem })
          replay.add({ kind: 'problem', problem: line.problem }, name)
        }
      }
      for (; shown < Math.floor(end / mebibyte); shown++) progress.tick()
    }
  } catch (error) {
    throw fileError(name, error)
  }
  if (steps === 0) faults.empty(name)
}
