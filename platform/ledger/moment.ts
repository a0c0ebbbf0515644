/** A change of a workspace: its time, ms since 1970, and the size of the locked log, from which on it is in force. */
export interface Moment {
  readonly now: number
  readonly log_index: number
}
