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
    lines: buffer.lines,
    /** As of the segments, and then what the disk does not take: it is sent all the same. */
    read: async (offset: number, length: number) => {
      const found = await segments.read(offset, length)
      if (found.bytes.length > 0 || buffer.isEmpty()) return { ...found, offset: Math.max(offset, found.offset) }
      const at = Math.max(offset, segments.end())
      return { offset: at, bytes: buffer.peek(at - segments.end(), length) }
    },
    /** The offset, or one before the file that a partial write goes on in. */
    written: (offset: number) => (buffer.isEmpty() ? offset : Math.min(offset, segments.end() - 1)),
    settled: () => writing ?? Promise.resolve(),
    flush: async () => {
      buffer.drain()
      await segments.sync()
    },
  }
}
