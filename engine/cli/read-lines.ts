// Lines of a file that is never in memory as a whole.
import { createReadStream } from 'node:fs'

/** A line by its 0-based number, with its text, or with why it has none. */
export type FileLine =
  | { readonly line: number; readonly text: string; readonly problem: null }
  | { readonly line: number; readonly problem: string }

/** Bytes of a line: a run of ten thousand long steps. More would have to be held in memory several times over. */
const longest = 64 * 1024 * 1024
const newline = 0x0a

/**
 * Splits at line feeds only, because JSON strings may hold the other separators of Unicode as they are. Rejects when
 * the file cannot be read.
 */
export async function* readLines(file: string): AsyncGenerator<FileLine> {
  let line = 0
  let pending: Buffer[] = []
  let length = 0
  const take = (): FileLine => {
    const taken = length > longest ? tooLong(line) : decoded(line, Buffer.concat(pending))
    line++
    pending = []
    length = 0
    return taken
  }
  const keep = (bytes: Buffer) => {
    length += bytes.length
    if (length > longest) pending = []
    else pending.push(bytes)
  }
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
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

function tooLong(line: number): FileLine {
  return { line, problem: `longer than ${longest / 1024 / 1024} MiB` }
}

function decoded(line: number, bytes: Buffer): FileLine {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: line > 0 }).decode(bytes)
    return { line, text, problem: null }
  } catch {
    return { line, problem: 'not UTF-8' }
  }
}
