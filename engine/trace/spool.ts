// A bounded queue on disk: what cannot be sent yet outlives the process, in the order in which it was added.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '../files/durable-file.js'
import { takeLock } from '../files/lock-file.js'

export interface Spool {
  /** Adds a line of JSON; false when the queue is full. */
  readonly add: (text: string) => boolean
  /** The oldest lines: at most `count`, and of at most `maxChars` together, but at least one. */
  readonly first: (count: number, maxChars: number) => readonly string[]
  /** Removes the oldest lines. */
  readonly remove: (count: number) => void
  readonly size: () => number
  /** Writes it to disk and releases its folder. */
  readonly close: () => void
}

/** Lines and characters of a queue: those of some hours of an outage. */
export const spoolLimits = { maxLines: 10_000, maxChars: 16 * 1024 * 1024 }
/** Removed lines in the file, in characters, before it is written anew. */
const maxRemovedChars = 4 * 1024 * 1024
/** Engines that share one folder for their queues. */
const maxFolders = 16

/**
 * The queue in a folder `name` below `parent`, or in the next free one while another process holds that. Queues that
 * ended processes left are taken over. When the disk fails, that is reported once and the queue is in memory only.
 */
export function openSpool(
  parent: string,
  name: string,
  report: (line: string) => void,
  limits: typeof spoolLimits = spoolLimits,
): Spool {
  const own = holdFolder(parent, name, report)
  const file = own === null ? null : spoolFile(join(own.folder, 'queue.jsonl'), report)
  const lines = [...(file?.read() ?? []), ...leftQueues(parent, name, own?.folder ?? null)]
  let chars = lines.reduce((sum, line) => sum + line.length, 0)
  file?.rewrite(lines)
  return {
    add: (text) => {
      if (lines.length >= limits.maxLines || chars + text.length > limits.maxChars) return false
      lines.push(text)
      chars += text.length
      file?.append(`+${text}\n`)
      return true
    },
    first: (count, maxChars) => {
      let taken = 0
      let sum = 0
      for (const line of lines.slice(0, count)) {
        sum += line.length
        if (taken > 0 && sum > maxChars) break
        taken += 1
      }
      return lines.slice(0, taken)
    },
    remove: (count) => {
      const removed = lines.splice(0, count).reduce((sum, line) => sum + line.length, 0)
      chars -= removed
      file?.removed(count, removed, lines)
    },
    size: () => lines.length,
    close: () => {
      file?.close()
      own?.release()
    },
  }
}

/** The first folder that no other process holds; null when there is none. */
function holdFolder(parent: string, name: string, report: (line: string) => void) {
  for (let number = 1; number <= maxFolders; number++) {
    const folder = folderOf(parent, name, number)
    const release = tryLock(folder)
    if (release !== null) return { folder, release }
  }
  report(`no folder for \`${name}\` can be used below \`${parent}\`: what is not sent is lost when this process ends`)
  return null
}

function folderOf(parent: string, name: string, number: number): string {
  return join(parent, number === 1 ? name : `${name}-${number}`)
}

/** Null when another process holds the folder, or it cannot be written. */
function tryLock(folder: string): (() => void) | null {
  try {
    return takeLock(folder)
  } catch {
    return null
  }
}

/** The lines of queues whose processes have ended; their folders are removed once the lines are in this queue. */
function leftQueues(parent: string, name: string, own: string | null): string[] {
  if (own === null) return []
  const lines: string[] = []
  for (let number = 1; number <= maxFolders; number++) {
    const folder = folderOf(parent, name, number)
    if (folder === own || !existsSync(folder)) continue
    const release = tryLock(folder)
    if (release === null) continue
    lines.push(...linesIn(readIfThere(join(folder, 'queue.jsonl')) ?? ''))
    rmSync(join(folder, 'queue.jsonl'), { force: true })
    release()
  }
  return lines
}

/** The lines that were added and not removed; the last line may have been cut off by a crash. */
function linesIn(text: string): string[] {
  const lines: string[] = []
  let removed = 0
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('+')) lines.push(line.slice(1))
    else if (line.startsWith('-')) removed += Number(line.slice(1)) || 0
  }
  return lines.slice(removed).filter(isJson)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The file of a queue: added lines begin with `+`, and `-3` removes the three oldest. */
function spoolFile(path: string, report: (line: string) => void) {
  let file: number | null = null
  let dead = 0
  let reported = false
  const attempt = (act: () => void) => {
    try {
      act()
    } catch (error) {
      if (!reported) report(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
      reported = true
    }
  }
  const append = (text: string) =>
    attempt(() => {
      file ??= openSync(path, 'a', 0o600)
      const bytes = Buffer.from(text)
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    })
  const rewrite = (lines: readonly string[]) =>
    attempt(() => {
      if (file !== null) closeSync(file)
      file = null
      dead = 0
      replaceFile(path, lines.map((line) => `+${line}\n`).join(''))
    })
  return {
    read: () => linesIn(readIfThere(path) ?? ''),
    append,
    rewrite,
    removed: (count: number, chars: number, rest: readonly string[]) => {
      dead += chars
      if (rest.length === 0) attempt(() => truncateSync(path))
      else if (dead > maxRemovedChars) rewrite(rest)
      else append(`-${count}\n`)
      if (rest.length === 0) dead = 0
    },
    close: () =>
      attempt(() => {
        if (file === null) return
        fsyncSync(file)
        closeSync(file)
        file = null
      }),
  }
}
