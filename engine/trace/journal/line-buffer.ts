// Lines on their way to a file: bounded in memory, written many at once, and never torn by a partial write.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Characters buffered while the disk rejects writes; further lines are lost. */
const maxBufferedChars = 16 * 1024 * 1024

export interface LineBuffer {
  /**
   * False when the buffer is full and the line is lost. The text ends in a line break. Lines are written together, once the
   * requests that wait at the moment have added theirs.
   */
  readonly add: (text: string) => boolean
  /** Resolves after the next write, or once it failed. */
  readonly settled: () => Promise<void>
  /** Writes all lines. Throws when the disk rejects them; the rest stays in the buffer. */
  readonly drain: () => void
  /** Writes all lines, or reports the first failure. */
  readonly tryDrain: () => void
  /** True when no line waits to be written. */
  readonly isEmpty: () => boolean
  /** The reason why the disk took nothing the last time; null once all lines are written. */
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
  /** The destination of the lines, for messages. */
  readonly path: string
  /**
   * Writes bytes and returns how many; throws when the disk rejects them. `is_rest`: they continue a partial write. Null: all lines
   * stay in the buffer.
   */
  readonly write: ((bytes: Buffer, is_rest: boolean) => number) | null
  /** Called when the disk does not take lines, and when it does again. */
  readonly onProblem: () => void
  readonly report: (line: string) => void
}

export function lineBuffer({ path, write, onProblem, report }: LineBufferParts): LineBuffer {
  const encoded = encodedParts()
  let problem: string | null = null
  let unwritten = 0
  let lost = 0

  const drain = () => {
    if (encoded.size() === 0 || write === null) return
    encoded.write(write)
    if (problem !== null) report(`the trace is being written to \`${path}\` again; ${lost} lines were lost`)
    problem = null
    unwritten = 0
    lost = 0
  }
  const tryDrain = () => {
    const before = problem
    try {
      drain()
    } catch (error) {
      const found = `the trace cannot be written: ${error instanceof Error ? error.message : String(error)}`
      if (problem === null) report(found)
      problem = found
      unwritten = encoded.lines()
    }
    if (before !== null || problem !== null) onProblem()
  }
  const writing = oncePerTurn(tryDrain)
  const room = () => maxBufferedChars - encoded.size()
  return {
    add: (text) => {
      writing.schedule()
      if (text.length > room()) {
        lost += 1
        return false
      }
      encoded.add(text)
      return true
    },
    settled: writing.settled,
    drain,
    tryDrain,
    isEmpty: () => encoded.size() === 0,
    problem: () => problem,
    room,
    unwritten: () => unwritten,
    skip: encoded.skip,
    peek: encoded.peek,
  }
}

/** `schedule` calls `act` in the next turn of the event loop, once for all calls in this one. */
function oncePerTurn(act: () => void) {
  let waiting: Promise<void> | null = null
  return {
    schedule: () => {
      waiting ??= nextTurn().then(() => {
        waiting = null
        act()
      })
    },
    settled: () => waiting ?? Promise.resolve(),
  }
}

/** Lines as bytes. A partial write continues where the disk stopped, so that no line is torn. */
function encodedParts() {
  let parts: { readonly bytes: Buffer; readonly lines: number }[] = []
  /** Not encoded yet. */
  let texts: string[] = []
  /** Bytes of the parts and characters of the texts. */
  let size = 0
  let is_rest = false
  const encode = () => {
    if (texts.length === 0) return
    parts.push({ bytes: Buffer.from(texts.join('')), lines: texts.length })
    texts = []
    size = parts.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }
  return {
    size: () => size,
    lines: () => parts.reduce((sum, part) => sum + part.lines, 0),
    add: (text: string) => {
      texts.push(text)
      size += text.length
    },
    /** Writes all of them, in order. Throws when the disk takes nothing. */
    write: (write: NonNullable<LineBufferParts['write']>) => {
      encode()
      for (let [first] = parts; first !== undefined; [first] = parts) {
        const written = write(first.bytes, is_rest)
        size -= written
        is_rest = written < first.bytes.length
        const rest = is_rest ? [{ ...first, bytes: first.bytes.subarray(written) }] : []
        parts = [...rest, ...parts.slice(1)]
      }
    },
    skip: (bytes: number) => {
      encode()
      const rest = Buffer.concat(parts.map((part) => part.bytes)).subarray(bytes)
      parts = rest.length === 0 ? [] : [{ bytes: rest, lines: rest.toString('latin1').split('\n').length - 1 }]
      size = rest.length
      is_rest = false
    },
    peek: (position: number, length: number) => {
      encode()
      let from = Math.max(0, position)
      for (const { bytes } of parts) {
        if (from < bytes.length) return bytes.subarray(from, from + length)
        from -= bytes.length
      }
      return Buffer.alloc(0)
    },
  }
}
