// Reads the lines of a journal in order, and no more than are asked for. Lines stay bytes: offsets
// count bytes.
import type { Segments } from './segments.js'

/** Read at once. */
const readBytes = 256 * 1024
const newline = 0x0a

/** Reads lines from an offset on, and keeps those that were not removed yet. */
export function createReader(segments: Pick<Segments, 'read'>, from: number) {
  let lines: { readonly bytes: Buffer; readonly end: number }[] = []
  /** Of the lines, with their line breaks. */
  let size = 0
  let offset = from
  /** The begin of a line whose end has not been read. */
  let rest: Buffer[] = []
  const readMore = async () => {
    const read = await segments.read(offset, readBytes)
    // A part that another program has removed ends the line before it.
    if (read.offset !== offset) rest = []
    let start = 0
    for (let at = read.bytes.indexOf(newline); at >= 0; at = read.bytes.indexOf(newline, start)) {
      const part = read.bytes.subarray(start, at)
      const bytes = rest.length === 0 ? part : Buffer.concat([...rest, part])
      lines.push({ bytes, end: read.offset + at + 1 })
      size += bytes.length + 1
      rest = []
      start = at + 1
    }
    if (start < read.bytes.length) rest.push(read.bytes.subarray(start))
    offset = read.offset + read.bytes.length
    return read.bytes.length > 0
  }
  return {
    position: () => offset,
    /** Null when none was read that was not removed. */
    oldest: (): Buffer | null => lines[0]?.bytes ?? null,
    first: async (count: number, max_bytes: number): Promise<Buffer[]> => {
      while (lines.length < count && size < max_bytes && (await readMore()));
      let sum = 0
      const fit = lines.slice(0, count).findIndex(({ bytes }, index) => {
        sum += bytes.length + 1
        return index > 0 && sum > max_bytes
      })
      return lines.slice(0, fit < 0 ? count : fit).map(({ bytes }) => bytes)
    },
    /** The offset after the removed lines; null when there are none. */
    remove: (count: number): number | null => {
      const removed = lines.slice(0, count)
      lines = lines.slice(count)
      size -= removed.reduce((sum, { bytes }) => sum + bytes.length + 1, 0)
      return removed.at(-1)?.end ?? null
    },
  }
}
