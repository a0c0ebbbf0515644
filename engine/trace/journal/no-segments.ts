// The bytes of a journal without a folder that can be written: they end with the process.
import type { Segments } from './segments.js'

export function segmentsInMemory(): Segments {
  let parts: { readonly offset: number; readonly bytes: Buffer }[] = []
  let start = 0
  let end = 0
  const from = (offset: number, length: number) => {
    const part = parts.find((one) => one.offset + one.bytes.length > offset)
    if (part === undefined) return { offset: end, bytes: Buffer.alloc(0) }
    const at = Math.max(offset, part.offset)
    return { offset: at, bytes: part.bytes.subarray(at - part.offset).subarray(0, length) }
  }
  return {
    start: () => start,
    end: () => end,
    append: (bytes) => {
      parts.push({ offset: end, bytes: Buffer.from(bytes) })
      end += bytes.length
      return bytes.length
    },
    read: async (offset, length) => from(offset, length),
    countLines: () => 0,
    // Memory is for what waits.
    trim: (offset) => {
      parts = parts.filter((part) => part.offset + part.bytes.length > offset)
      start = parts[0]?.offset ?? end
    },
    clear: (offset) => {
      parts = []
      start = offset
      end = offset
    },
    sync: async () => undefined,
    close: async () => undefined,
    stream: async function* (range) {
      for (const { offset, bytes } of [...parts]) {
        const part = bytes.subarray(Math.max(0, range.start - offset), Math.max(0, range.end - offset))
        if (part.length > 0) yield part
      }
    },
  }
}
