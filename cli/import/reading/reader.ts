// The interface of every format of an import: a first reading for facts, a second one for steps.
import type { Behavior } from '@svc/schemas'
import type { ImportedAgent } from '../target/target.js'
import type { Source } from './source.js'

/** A run, or a task of another format, that is ready to be written or sent. */
export interface Recorded {
  /** The run in messages about it. */
  readonly place: string
  readonly steps: readonly Behavior[]
  /** True when more steps of the same task follow. */
  readonly continues?: true
}

/** The result of the first reading of a line, a document or an entry of a list. */
export interface Seen {
  /** Runs that begin there. */
  readonly runs: number
}

/** A value in the place of a run. */
export interface Fault {
  readonly file: string
  /** From 0; null for a document. */
  readonly line: number | null
  /** Number of the run in a list of runs, or of the span in its line or document, from 0; null for others. */
  readonly entry: number | null
  /** The unit that `entry` counts. */
  readonly unit: 'run' | 'span'
  readonly reason: string
  /** The value that is not a run; undefined for text that is not JSON, and for a run that is one. */
  readonly value?: unknown
}

/** The parts that an import left out on purpose. */
export interface Remarks {
  readonly lines: readonly string[]
  /** The same for programs. */
  readonly members: Readonly<Record<string, unknown>>
}

/** Reads the files of an import one after the other, first all with `survey` and then all with `read`. */
export interface ImportReader {
  readonly survey: (source: Source) => AsyncGenerator<Seen | Fault>
  /** The agents of the runs with their tools, after the survey. Throws UsageError when the import cannot begin. */
  readonly agents: () => readonly ImportedAgent[]
  /** The runs, and faults that only the second reading can find. */
  readonly read: (source: Source) => AsyncGenerator<Recorded | Fault>
  /** After the last file: the tools whose meaning was guessed, for formats whose agents declare none. */
  readonly guessed_tools?: () => readonly string[]
  /** After the last file. */
  readonly remarks: () => Remarks
}

export function isFault(found: object): found is Fault {
  return 'reason' in found
}

export const noRemarks: Remarks = { lines: [], members: {} }
