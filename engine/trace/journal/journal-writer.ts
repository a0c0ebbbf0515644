// Lines on their way into the files of a journal; what the disk does not take can be read anyway.
import { lineBuffer } from './line-buffer.js'
import type { Segments } from './segments.js'

export type Writer = ReturnType<typeof createWriter>

/** `onProblem` is called when the disk does not take lines, and when it does again. */
export function createWriter(
  segments: Segments,
  folder: string | null,
  onProblem: () => void,
  report: (line: string) => void,
) {
  const buffer = lineBuffer({ path: folder ?? 'memory', write: segments.append, onProblem, report })
  return {
    /** False when the buffer is full. */
    add: (text: string) => buffer.add(`${text}\n`),
    drain: buffer.tryDrain,
    isEmpty: buffer.isEmpty,
    problem: buffer.problem,
    room: buffer.room,
    unwritten: buffer.unwritten,
    /** As of the segments, and then what the disk does not take: it is sent anyway. */
    read: async (offset: number, length: number) => {
      const found = await segments.read(offset, length)
      if (found.bytes.length > 0 || buffer.isEmpty()) return { ...found, offset: Math.max(offset, found.offset) }
      const at = Math.max(offset, segments.end())
      return { offset: at, bytes: buffer.peek(at - segments.end(), length) }
    },
    /** Deletes the oldest of what ends before the offset, until `kept_bytes` of it are left. */
    trim: (offset: number, kept_bytes: number) => {
      const on_disk = segments.end()
      if (buffer.problem() === null && segments.append !== null) {
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
    settled: buffer.settled,
    flush: async () => {
      buffer.drain()
      await segments.sync()
    },
  }
}
