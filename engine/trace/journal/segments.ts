// The bytes of a journal as files, each named by the offset of its first byte in the whole journal. They are only appended to,
// and deleted whole.
import {
  createReadStream,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createAppender, type Segment, segmentPath, syncQueue } from './appender.js'
import { maxOffset } from './cursor.js'

/** Bytes of a trace, from `start` to before `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The bytes of a trace, by their offset in all that was ever written to it. */
export interface TraceBytes {
  /** The first byte that is kept. */
  readonly start: () => number
  readonly end: () => number
  readonly read: (range: ByteRange) => AsyncIterable<Buffer>
}

export interface Segments {
  /** Offset of the first byte that is kept. */
  readonly start: () => number
  /** Offset of the next byte. */
  readonly end: () => number
  /**
   * Appends lines; returns how many bytes the disk took, and throws when it takes none. `is_rest`: the bytes continue a partial
   * write, so that they belong to the same file. Null without a folder.
   */
  readonly append: ((bytes: Buffer, is_rest: boolean) => number) | null
  /**
   * At most `length` bytes at the offset, or at the next one that is kept; empty at the end. Rejects when the disk cannot be
   * read.
   */
  readonly read: (offset: number, length: number) => Promise<{ readonly offset: number; readonly bytes: Buffer }>
  /** Lines from the offset on. */
  readonly countLines: (offset: number) => number
  /** Deletes the oldest files of what ends before `offset`, until at most `kept_bytes` of it are left. */
  readonly trim: (offset: number, kept_bytes: number) => void
  /** Deletes all files; the next byte has this offset, which is not before the end. */
  readonly clear: (offset: number) => void
  /** Resolves once all bytes are durable. */
  readonly sync: () => Promise<void>
  readonly close: () => Promise<void>
  readonly stream: TraceBytes['read']
}

const name = /^(\d{20})\.jsonl$/

/** The files of a folder in order. The end of the last one that a crash has cut off is removed. */
export function segmentsIn(folder: string): Segment[] {
  const starts = readdirSync(folder).flatMap((file) => name.exec(file)?.[1] ?? [])
  const segments = starts.sort().map((digits) => {
    const path = join(folder, `${digits}.jsonl`)
    const [start, found] = [Number(digits), lstatSync(path)]
    // A link in a folder of others would have another file cut off, sent and appended to.
    if (!found.isFile() || start > maxOffset) throw new Error(`\`${path}\` is not a file of the queue: remove it`)
    return { path, start, size: found.size }
  })
  const last = segments.at(-1)
  if (last !== undefined) removeTornLine(last)
  return segments
}

/** The offset after the last file of the folder, at least `least`. */
export function endOfSegments(folder: string, least: number): number {
  return segmentsIn(folder).reduce((end, { start, size }) => Math.max(end, start + size), least)
}

const newline = 0x0a

function removeTornLine(segment: Segment): void {
  const whole = readFileSync(segment.path).lastIndexOf(newline) + 1
  if (whole < segment.size) truncateSync(segment.path, whole)
  segment.size = whole
}

/**
 * Opens the files of a folder, which this process holds. `end` is the least offset of the next byte; `renew` makes the folder
 * again when another program has removed it.
 */
export function openSegments(folder: string, max_bytes: number, end: number, renew: () => void): Segments {
  const list = segmentsIn(folder)
  const syncing = syncQueue()
  const next = () => Math.max(end, ...list.slice(-1).map(endOf))
  const appender = createAppender({ folder, max_bytes, list, next, close: syncing.close, renew })
  return {
    start: () => list[0]?.start ?? next(),
    end: next,
    append: appender.append,
    read: async (offset, length) => {
      for (const segment of list) {
        if (endOf(segment) <= offset) continue
        const from = Math.max(offset, segment.start)
        let bytes = await readPart(segment, from - segment.start, length)
        if (bytes.length === 0 && appender.active()?.segment === segment && appender.restore())
          bytes = await readPart(segment, from - segment.start, length)
        if (bytes.length > 0) return { offset: from, bytes }
      }
      return { offset: next(), bytes: Buffer.alloc(0) }
    },
    countLines: (offset) => linesFrom(list, offset),
    trim: (offset, kept_bytes) => {
      const done = list.filter((segment) => endOf(segment) <= offset)
      let kept = done.reduce((sum, { size }) => sum + size, 0)
      for (const segment of done) {
        if (kept <= kept_bytes) return
        end = next()
        if (appender.active()?.segment === segment) appender.retire()
        rmSync(segment.path, { force: true })
        list.shift()
        kept -= segment.size
      }
    },
    clear: (offset) => {
      for (const { path } of list) rmSync(path, { force: true })
      appender.retire()
      list.length = 0
      end = offset
    },
    sync: () => syncing.sync(appender.active()?.file ?? null),
    close: async () => {
      appender.retire()
      await syncing.sync(null)
    },
    stream: (range) => streamOf([...list], range),
  }
}

async function* streamOf(list: readonly Segment[], { start, end }: ByteRange): AsyncGenerator<Buffer> {
  for (const segment of list) {
    const from = Math.max(start, segment.start) - segment.start
    const before = Math.min(end, segment.start + segment.size) - segment.start
    if (from < before) yield* createReadStream(segment.path, { start: from, end: before - 1 })
  }
}

function endOf({ start, size }: Segment): number {
  return start + size
}

/** Lines of the files from the offset on. */
export function linesFrom(list: readonly Segment[], offset: number): number {
  let lines = 0
  for (const { path, start, size } of list) {
    if (start + size <= offset) continue
    const bytes = readFileSync(path)
    for (let at = bytes.indexOf(newline, Math.max(0, offset - start)); at >= 0; at = bytes.indexOf(newline, at + 1))
      lines += 1
  }
  return lines
}

/** Empty when the file, or this part of it, was removed by another program. */
async function readPart({ path, size }: Segment, position: number, length: number): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const bytes = Buffer.alloc(Math.min(length, size - position))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, position)
      return bytes.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** Moves what a folder holds after `offset` behind `end` of another one, oldest first; returns the new end. */
export function moveSegments(from: string, offset: number, into: string, end: number): number {
  let next = end
  for (const { path, start, size } of segmentsIn(from)) {
    const sent = Math.min(Math.max(offset - start, 0), size)
    const moved = segmentPath(into, next)
    if (sent === 0 && size > 0) renameSync(path, moved)
    else if (sent < size && !moveRest(path, sent, moved)) {
      // On a full disk, what has arrived is sent again, which adds nothing.
      renameSync(path, moved)
      next += sent
    } else rmSync(path, { force: true })
    next += size - sent
  }
  return next
}

/** Writes what follows the position to another file; false when the disk does not take it. */
function moveRest(path: string, position: number, into: string): boolean {
  try {
    writeFileSync(into, readFileSync(path).subarray(position), { mode: 0o600 })
    return true
  } catch {
    rmSync(into, { force: true })
    return false
  }
}
