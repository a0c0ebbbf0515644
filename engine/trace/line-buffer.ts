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
  /** Characters that `add` accepts. */
  readonly room: () => number
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
  let size = 0
  /** The rest of a partial write: it continues where the disk stopped, so that no line is torn. */
  let unwritten = Buffer.alloc(0)
  let is_rest = false
  let failing = false
  let lost = 0

  const isEmpty = () => unwritten.length === 0 && lines.length === 0
  const drain = () => {
    while (!isEmpty()) {
      if (unwritten.length === 0) {
        unwritten = Buffer.from(lines.join(''))
        lines = []
        size = 0
        is_rest = false
      }
      const written = write(unwritten, is_rest)
      is_rest ||= written > 0
      unwritten = unwritten.subarray(written)
    }
    if (failing) report(`the trace is being written to \`${path}\` again; ${lost} lines were lost`)
    failing = false
    lost = 0
  }
  return {
    add: (text) => {
      if (size + text.length > maxBufferedChars) {
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
        if (!failing) report(`the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`)
        failing = true
      }
    },
    isEmpty,
    room: () => maxBufferedChars - size,
  }
}
