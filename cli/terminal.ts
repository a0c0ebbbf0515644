// The part of a process that a command uses. A command in a process gets its streams; a test gives streams of its own.
import type { Readable, Writable } from 'node:stream'

/** A stream for text, which a terminal may show. */
export type TextStream = Writable & {
  readonly isTTY?: boolean
  /** Characters of a line of the terminal. */
  readonly columns?: number
}

export interface Terminal {
  /** The beginning of printed commands, such as `npx --no-install svc`. */
  readonly svc: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: TextStream
  readonly stderr: TextStream
  /** Sets the exit code of the command: the last one counts. */
  readonly exit: (code: number) => void
}
