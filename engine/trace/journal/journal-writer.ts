// Lines on their way into the files of a journal; what the disk does not take can be read all the same.
import { lineBuffer } from './line-buffer.js'
import type { Segments } from './segments.js'

export type Writer = ReturnType<typeof createWriter>

/**
 * Writes lines together, once the requests that wait at the moment have added theirs; `onUnwritten` is called when the disk does
 * not take them, and when it does again.
 */
export function createWriter(
  segments: Segments,
  folder: string | null,
  onUnwritten: () => void,
  report: (line: string) => void,
) {
  const buffer = lineBuffer({ path: folder ?? 'memory', write: segments.append, report })
  /** Resolves after the next write; null while the buffer is empty. */
  let writing: Promise<void> | null = null
  const drain = () => {
    const before = buffer.problem()
    buffer.tryDrain()
    if (before !== null || buffer.problem() !== null) onUnwritten()
  }
  return {
    /** False when the buffer is full. */
    add: (text: string) => {
      if (!buffer.add(`${text}\n`)) return false
      writing ??= new Promise((resolve) => {
        setImmediate(() => {
          writing = null
          drain()
          resolve()
        })
      })
      return true
    },
    drain,
    isEmpty: buffer.isEmpty,
    problem: buffer.problem,
    room: buffer.room,
    unwritten: buffer.unwritten,
    /** As of the segments, and then what the disk does not take: it is sent all the same. */
    read: async (offset: number, length: number) => {
      const found = await segments.read(offset, length)
      if (found.bytes.length > 0 || buffer.isEmpty()) return { ...found, offset: Math.max(offset, found.offset) }
      const at = Math.max(offset, segments.end())
      return { offset: at, bytes: buffer.peek(at - segments.end(), length) }
    },
    /** Deletes the oldest of what ends before the offset, until `kept_bytes` of it are left. */
    trim: (offset: number, kept_bytes: number) => {
      const on_disk = segments.end()
      if (buffer.problem() === null) {
        segments.trim(buffer.isEmpty() ? offset : Math.min(offset, on_disk - 1), kept_bytes)
        return
      }
      // Lines that wait for room on the disk are worth more than those that have arrived.
      if (offset < on_disk) segments.trim(offset, 0)
      else {
        segments.clear(offset)
        buffer.skip(offset - on_disk)
      }
    },
    settled: () => writing ?? Promise.resolve(),
    flush: async () => {
      buffer.drain()
      await segments.sync()
    },
  }
}
