// Reads the lines of a journal in order, and no more than are asked for.
import type { Segments } from './segments.js'

/** Read at once; decoding it takes less than a millisecond. */
const readBytes = 256 * 1024
const newline = 0x0a

/** Reads lines from an offset on, and keeps those that were not removed yet. */
export function createReader(segments: Segments, from: number) {
  let lines: { readonly text: string; readonly end: number; readonly size: number }[] = []
  let offset = from
  /** The begin of a line whose end has not been read. */
  let rest: Buffer = Buffer.alloc(0)
  const readMore = async () => {
    const read = await segments.read(offset, readBytes)
    // A part that another program has removed ends the line before it.
    const bytes = read.offset === offset ? Buffer.concat([rest, read.bytes]) : read.bytes
    let start = 0
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, start)) {
      const end = read.offset + read.bytes.length - (bytes.length - at - 1)
      lines.push({ text: bytes.toString('utf8', start, at), end, size: at + 1 - start })
      start = at + 1
    }
    rest = bytes.subarray(start)
    offset = read.offset + read.bytes.length
    return read.bytes.length > 0
  }
  return {
    position: () => offset,
    first: async (count: number, max_bytes: number): Promise<string[]> => {
      const size = () => lines.reduce((sum, line) => sum + line.size, 0)
      while (lines.length < count && size() < max_bytes && (await readMore()));
      let sum = 0
      const fit = lines.slice(0, count).findIndex((line, index) => {
        sum += line.size
        return index > 0 && sum > max_bytes
      })
      return lines.slice(0, fit < 0 ? count : fit).map(({ text }) => text)
    },
    /** The offset after the removed lines; null when there are none. */
    remove: (count: number): number | null => {
      const removed = lines.slice(0, count)
      lines = lines.slice(count)
      return removed.at(-1)?.end ?? null
    },
  }
}
