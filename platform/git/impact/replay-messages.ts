// What the thread that replays tasks is given, and what it answers.
import type { Flip, ReplayPolicy, TaskChange } from '@svc/engine'
import type { JsonMap } from '@svc/schemas'

/** Given once. Indexes are those in `policies`. */
export interface ReplayWork {
  readonly policies: readonly ReplayPolicy[]
  readonly agents: readonly {
    readonly facts: JsonMap
    readonly before: readonly number[]
    readonly after: readonly number[]
  }[]
  /** First flips in the answers, in all for each kind of change. */
  readonly max_listed: number
}

/** A task as text: a message of texts costs the sender little. */
export interface StoredSteps {
  /** The index of the agent. */
  readonly agent: number
  readonly lines: string
}

/** The answer on one task. */
export type ReplayedTask =
  | 'metadata_only'
  | {
      readonly steps: number
      readonly change: TaskChange | null
      /** Whether the outcome of a step differs. */
      readonly flips: boolean
      readonly first_flip: Flip | null
      /** As in `TaskComparison`. */
      readonly blocked_step: number | null
    }
