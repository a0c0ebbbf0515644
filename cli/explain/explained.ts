// What `svc explain` reports.
import type { Explanation } from '@svc/engine'
import type { Step } from '@svc/schemas'

/** What was found out about one step. */
export interface ExplainedStep extends Explanation {
  readonly task_id: string
  /** Which run of the task's id, from 1, and how many the trace holds. */
  readonly run: number
  readonly runs: number
  /** Null for a step that was evaluated and did not happen. */
  readonly step: number | null
  readonly evaluation_id: string | null
  readonly judged: Step
  /** Names of policies of a level above the agent's. */
  readonly skipped: readonly string[]
}
