// Reads a file line by line, without holding it in memory.
import { createReadStream } from 'node:fs'
import type { ByteRange } from '../journal/segments.js'

/** A line by its 0-based number and its byte offset, with its text or the reason why it cannot be read. */
export type FileLine = { readonly line: number; readonly offset: number } & (
  | { readonly text: string; readonly problem: null }
  | { readonly problem: string }
)

/** Enough for a run of ten thousand long steps; a line is in memory several times. */
const maxLineBytes = 64 * 1024 * 1024
const newline = 0x0a

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
  let offset = start
  let pending: Buffer[] = []
  let length = 0
  const take = (): FileLine => {
    const taken = { line, offset, ...(length > maxLineBytes ? tooLong : decoded(Buffer.concat(pending), line === 0)) }
    line += 1
    offset += length + 1
    pending = []
    length = 0
    return taken
  }
  const keep = (bytes: Buffer) => {
    length += bytes.length
    if (length > maxLineBytes) pending = []
    else pending.push(bytes)
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      keep(chunk.subarray(from, end))
      yield take()
      from = end + 1
    }
    keep(chunk.subarray(from))
  }
  if (length > 0) yield take()
}

const tooLong = { problem: `longer than ${maxLineBytes / 1024 / 1024} MiB` }

function decoded(bytes: Buffer, first: boolean) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: !first }).decode(bytes)
    return { text, problem: null }
  } catch {
    return { problem: 'not UTF-8' }
  }
}
