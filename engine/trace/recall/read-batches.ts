// Reads a stream of bytes as lines, many at a time: one line at a time costs more than evaluating a step.

/** Consecutive lines. */
export interface LineBatch {
  /** 0-based number of the first line. */
  readonly first: number
  readonly lines: readonly (string | LineProblem)[]
  /** Bytes of the stream up to the end of these lines. */
  readonly end: number
}

/** A line that cannot be read. */
export interface LineProblem {
  readonly problem: string
}

/** As in read-lines.ts. */
const maxLineBytes = 64 * 1024 * 1024
const newline = 0x0a
const tooLong: LineProblem = { problem: `longer than ${maxLineBytes / 1024 / 1024} MiB` }

/** Splits at line feeds only, as `readLines` does. Rejects with the error of the stream. */
export async function* readBatches(bytes: AsyncIterable<Buffer>): AsyncGenerator<LineBatch> {
  let first = 0
  let end = 0
  let pending: Buffer[] = []
  let length = 0
  const batch = (whole: Buffer, is_long: boolean): LineBatch => {
    const decoded = linesIn(whole, first === 0)
    const lines = is_long ? [tooLong, ...decoded.slice(1)] : decoded
    const made = { first, lines, end }
    first += lines.length
    return made
  }
  for await (const chunk of bytes) {
    const last = chunk.lastIndexOf(newline)
    if (last < 0) {
      pending.push(chunk)
      length += chunk.length
      end += chunk.length
      // Its bytes are dropped, and the line is reported when it ends.
      if (length > maxLineBytes) pending = []
      continue
    }
    const is_long = length + chunk.indexOf(newline) > maxLineBytes
    end += last + 1
    yield batch(Buffer.concat([...pending, chunk.subarray(0, last)]), is_long)
    pending = [chunk.subarray(last + 1)]
    length = chunk.length - last - 1
    end += length
  }
  if (length > 0) yield batch(Buffer.concat(pending), length > maxLineBytes)
}

/** The lines of a text; where a part is not UTF-8, only its lines cannot be read. */
function linesIn(bytes: Buffer, at_start: boolean): (string | LineProblem)[] {
  const whole = decoded(bytes, at_start)
  if (typeof whole === 'string') return whole.split('\n')
  const lines: (string | LineProblem)[] = []
  for (let from = 0; from <= bytes.length; ) {
    const next = bytes.indexOf(newline, from)
    const to = next < 0 ? bytes.length : next
    lines.push(decoded(bytes.subarray(from, to), at_start && from === 0))
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
