// Lines on their way to a file: bounded in memory, written many at once, and never torn by a partial write.

/** Characters buffered while the disk rejects writes; further lines are lost. */
const maxBufferedChars = 16 * 1024 * 1024

export interface LineBuffer {
  /** False when the buffer is full and the line is lost. The text ends in a line break. */
  readonly add: (text: string) => boolean
  /** Writes all lines. Throws when the disk rejects them; the rest stays in the buffer. */
  readonly drain: () => void
  /** Writes all lines, or reports the first failure. */
  readonly tryDrain: () => void
  /** True when no line waits to be written. */
  readonly isEmpty: () => boolean
  /** Why the disk took nothing the last time; null once all lines are written. */
  readonly problem: () => string | null
  /** Characters that `add` accepts. */
  readonly room: () => number
  /** Lines whose write failed: their steps were acknowledged. A line that waits for its first write is neither. */
  readonly unwritten: () => number
  /** Gives up whole lines of so many bytes, the oldest first. */
  readonly skip: (bytes: number) => void
  /** At most `length` bytes from a position in what waits to be written; empty at its end. */
  readonly peek: (position: number, length: number) => Buffer
}

export interface LineBufferParts {
  /** Where the lines go, for messages. */
  readonly path: string
  /** Writes bytes and returns how many; throws when the disk rejects them. `is_rest`: they continue a partial write. */
  readonly write: (bytes: Buffer, is_rest: boolean) => number
  readonly report: (line: string) => void
}

export function lineBuffer({ path, write, report }: LineBufferParts): LineBuffer {
  let lines: string[] = []
  /** Characters of them. */
  let size = 0
  const encoded = encodedParts()
  let problem: string | null = null
  let unwritten = 0
  let lost = 0

  const encode = () => {
    if (lines.length > 0) encoded.add(lines)
    lines = []
    size = 0
  }
  const drain = () => {
    encode()
    if (encoded.size() === 0) return
    encoded.write(write)
    if (problem !== null) report(`the trace is being written to \`${path}\` again; ${lost} lines were lost`)
    problem = null
    unwritten = 0
    lost = 0
  }
  return {
    add: (text) => {
      if (size + encoded.size() + text.length > maxBufferedChars) {
        lost += 1
        return false
      }
      lines.push(text)
      size += text.length
      return true
    },
    drain,
    tryDrain: () => {
      try {
        drain()
      } catch (error) {
        const found = `the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`
        if (problem === null) report(found)
        problem = found
        unwritten = encoded.lines()
      }
    },
    isEmpty: () => encoded.size() === 0 && lines.length === 0,
    problem: () => problem,
    room: () => maxBufferedChars - size - encoded.size(),
    unwritten: () => unwritten,
    skip: (bytes) => {
      encode()
      encoded.skip(bytes)
    },
    peek: (position, length) => {
      encode()
      return encoded.peek(position, length)
    },
  }
}

/** Lines as bytes. A partial write goes on where the disk stopped, so that no line is torn. */
function encodedParts() {
  let parts: { readonly bytes: Buffer; readonly lines: number }[] = []
  let size = 0
  let is_rest = false
  return {
    size: () => size,
    lines: () => parts.reduce((sum, part) => sum + part.lines, 0),
    add: (lines: readonly string[]) => {
      const bytes = Buffer.from(lines.join(''))
      parts.push({ bytes, lines: lines.length })
      size += bytes.length
    },
    /** Writes all of them, in order. Throws when the disk takes nothing. */
    write: (write: LineBufferParts['write']) => {
      for (let [first] = parts; first !== undefined; [first] = parts) {
        const written = write(first.bytes, is_rest)
        size -= written
        is_rest = written < first.bytes.length
        const rest = is_rest ? [{ ...first, bytes: first.bytes.subarray(written) }] : []
        parts = [...rest, ...parts.slice(1)]
      }
    },
    skip: (bytes: number) => {
      const rest = Buffer.concat(parts.map((part) => part.bytes)).subarray(bytes)
      parts = rest.length === 0 ? [] : [{ bytes: rest, lines: rest.toString('latin1').split('\n').length - 1 }]
      size = rest.length
      is_rest = false
    },
    peek: (position: number, length: number) => {
      let from = Math.max(0, position)
      for (const { bytes } of parts) {
        if (from < bytes.length) return bytes.subarray(from, from + length)
        from -= bytes.length
      }
      return Buffer.alloc(0)
    },
  }
}
