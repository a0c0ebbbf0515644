// A place outside this installation where checkpoints are kept, so that another past cannot be claimed later.
import type { Outgoing } from '../../../outgoing/outgoing.js'

export interface Anchored {
  readonly origin: string
  readonly size: number
  /** The signed note, with the signatures of its witnesses. */
  readonly note: string
}

export interface Anchor {
  /** Where it is, as it is configured. */
  readonly name: string
  /** Keeps the checkpoint; rejects when that was not possible. The next one comes anyway. */
  readonly keep: (checkpoint: Anchored) => Promise<void>
}

export interface Surroundings {
  /** What programs that are started here may know of this process's own environment. */
  readonly env: Readonly<Record<string, string>>
  readonly outgoing: Outgoing
}

/** A file name of its own for each log. */
export function fileNameOf(origin: string): string {
  return encodeURIComponent(origin).replaceAll('.', '%2E')
}
