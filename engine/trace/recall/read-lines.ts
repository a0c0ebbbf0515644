// Reads lines without holding a file in memory, one at a time or many: one at a time costs more than evaluating a step.
import { createReadStream } from 'node:fs'
import type { ByteRange } from '../journal/segments.js'

/** A line that cannot be read. */
export interface LineProblem {
  readonly problem: string
}

/** A line by its 0-based number and its byte offset, with its text or the reason why it cannot be read. */
export type FileLine = { readonly line: number; readonly offset: number } & (
  | { readonly text: string; readonly problem: null }
  | LineProblem
)

/** Consecutive lines. */
export interface LineBatch {
  /** 0-based number of the first line. */
  readonly first: number
  readonly lines: readonly (string | LineProblem)[]
  /** Bytes of the stream up to the end of these lines. */
  readonly end: number
}

/** Enough for a run of ten thousand long steps; a line is in memory several times. */
const maxLineBytes = 64 * 1024 * 1024
const newline = 0x0a
const tooLong: LineProblem = { problem: `longer than ${maxLineBytes / 1024 / 1024} MiB` }

/**
 * Splits at line feeds only, because JSON strings may contain the other line separators of Unicode. Rejects when the file
 * cannot be read.
 */
export async function* readLines(file: string, range?: ByteRange): AsyncGenerator<FileLine> {
  if (range !== undefined && range.end <= range.start) return
  yield* linesIn(createReadStream(file, range && { start: range.start, end: range.end - 1 }), range?.start ?? 0)
}

/** As `readLines`, for a part of a file or of several; `offset` is that of its first byte. */
export async function* linesIn(bytes: AsyncIterable<Buffer>, start: number): AsyncGenerator<FileLine> {
  let line = 0
  for await (const { begin, end, bytes: whole, is_long } of wholeLines(bytes)) {
    for (const { from, part } of splitIn(whole)) {
      const read = is_long && from === 0 ? tooLong : decoded(part, line === 0)
      const offset = start + (from === 0 ? begin : end - whole.length + from)
      yield { line, offset, ...(typeof read === 'string' ? { text: read, problem: null } : read) }
      line += 1
    }
  }
}

/** Lines as `readLines` splits them, many at a time. Rejects with the error of the stream. */
export async function* readBatches(bytes: AsyncIterable<Buffer>): AsyncGenerator<LineBatch> {
  let first = 0
  for await (const { end, bytes: whole, is_long, is_last } of wholeLines(bytes)) {
    const text = decoded(whole, first === 0)
    const found =
      typeof text === 'string'
        ? text.split('\n')
        : // Only the lines with the part that is not UTF-8 cannot be read.
          splitIn(whole).map(({ from, part }) => decoded(part, first === 0 && from === 0))
    const lines = is_long ? [tooLong, ...found.slice(1)] : found
    yield { first, lines, end: is_last ? end : end + 1 }
    first += lines.length
  }
}

/** Whole lines, from `begin` to before the line feed at `end`. Of a line that is too long only the last bytes are there. */
async function* wholeLines(bytes: AsyncIterable<Buffer>) {
  let begin = 0
  let pending: Buffer[] = []
  let length = 0
  const taken = (whole: Buffer, first: number, is_last: boolean) => ({
    begin,
    end: begin + length,
    bytes: whole,
    is_long: first > maxLineBytes,
    is_last,
  })
  for await (const chunk of bytes) {
    const last = chunk.lastIndexOf(newline)
    const before = length
    length += last < 0 ? chunk.length : last
    if (last < 0) pending = length > maxLineBytes ? [] : [...pending, chunk]
    if (last < 0) continue
    yield taken(Buffer.concat([...pending, chunk.subarray(0, last)]), before + chunk.indexOf(newline), false)
    begin += length + 1
    pending = [chunk.subarray(last + 1)]
    length = chunk.length - last - 1
  }
  if (length > 0) yield taken(Buffer.concat(pending), length, true)
}

function splitIn(bytes: Buffer): { readonly from: number; readonly part: Buffer }[] {
  const lines: { from: number; part: Buffer }[] = []
  for (let from = 0; from <= bytes.length; ) {
    const next = bytes.indexOf(newline, from)
    const to = next < 0 ? bytes.length : next
    lines.push({ from, part: bytes.subarray(from, to) })
    from = to + 1
  }
  return lines
}

/** A byte order mark is left out at the start of the stream only. */
function decoded(bytes: Buffer, at_start: boolean): string | LineProblem {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: !at_start }).decode(bytes)
  } catch {
    return { problem: 'not UTF-8' }
  }
}
