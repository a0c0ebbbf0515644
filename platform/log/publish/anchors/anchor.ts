// Storage outside this installation for checkpoints, so that the history of the log cannot be replaced later.
import type { Outgoing } from '../../../outgoing/outgoing.js'

export interface Anchored {
  readonly origin: string
  readonly size: number
  /** The signed note, with the signatures of its witnesses. */
  readonly note: string
}

export interface Anchor {
  /** The anchor as it is configured. */
  readonly name: string
  /** Stores the checkpoint; rejects on failure. */
  readonly store: (checkpoint: Anchored) => Promise<void>
}

export interface AnchorContext {
  /** The environment of the programs that an anchor starts. */
  readonly env: Readonly<Record<string, string>>
  readonly outgoing: Outgoing
}

/** The file name for a log. */
export function fileNameOf(origin: string): string {
  return encodeURIComponent(origin).replaceAll('.', '%2E')
}
