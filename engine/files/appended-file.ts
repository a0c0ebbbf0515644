// A file of lines to which its only writer appends, and which it writes anew when too many of them are not needed.
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { openingOwn, replaceUnflushed } from './durable-file.js'

export interface AppendedFile {
  /** Lines in the file. */
  readonly lines: () => number
  readonly append: (added: readonly string[]) => void
  readonly empty: () => void
  readonly rewrite: (all: readonly string[]) => void
  readonly close: () => void
}

/**
 * Every function throws when the disk rejects it. What is written survives a crash of the process, and not one of the
 * machine: flushing it would block the event loop.
 */
export function appendedFile(path: string): AppendedFile {
  let file: number | null = null
  let lines = 0
  const close = () => {
    if (file !== null) closeSync(file)
    file = null
  }
  const opened = () => {
    file ??= openSync(path, openingOwn.append, 0o600)
    if (fstatSync(file).nlink > 0) return file
    close()
    throw new Error('another program has removed it')
  }
  return {
    lines: () => lines,
    append: (added) => {
      writeAll(opened(), added.join(''))
      lines += added.length
    },
    empty: () => {
      ftruncateSync(opened())
      lines = 0
    },
    rewrite: (all) => {
      replaceUnflushed(path, all.join(''))
      close()
      lines = all.length
    },
    close,
  }
}

export interface Attempts {
  readonly isFailing: () => boolean
  readonly act: (act: () => void) => void
}

/** The first failure is reported, and the first success after it: what is to be written is in memory in the meantime. */
export function attempts(path: string, report: (line: string) => void): Attempts {
  let failing = false
  return {
    isFailing: () => failing,
    act: (act) => {
      try {
        act()
        if (failing) report(`\`${path}\` is being written again`)
        failing = false
      } catch (error) {
        if (!failing) report(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
        failing = true
      }
    },
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}
