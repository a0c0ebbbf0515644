// The trace of the local engine: a line for each step, blocked evaluation, incident and end of a task.
import type { Behavior, Effect, Evaluation, JsonMap, StepViolation } from '@svc/schemas'
import type { DeliveryStatus } from '../delivery/status.js'
import type { Recall } from '../recall/recall.js'

export type TraceLine =
  /**
   * The end of a task through /end_task. `step`: the number of the task.end that its steps lack.
   */
  | {
      readonly kind: 'end'
      readonly recorded_at: string
      readonly task_id: string
      readonly step?: number
      /** Of the recorded steps. */
      readonly agent_id?: string
    }
  | ({ readonly kind: 'step'; readonly recorded_at: string } & Behavior)
  /** A step that was evaluated, and blocked or asked about. It did not happen, so it is not a `step` line. */
  | {
      readonly kind: 'evaluation'
      readonly recorded_at: string
      readonly task_id: string
      readonly evaluation_id: string
      /** The agent as the policies saw it. */
      readonly agent: JsonMap
      readonly intended: Behavior
      readonly decision: {
        readonly action: 'allow' | 'block'
        readonly outcome: string
        readonly reason: string | null
        readonly manifests: Evaluation['manifests']
        readonly violations: readonly {
          readonly policy_id: number
          readonly name: string
          readonly code: string | null
        }[]
      }
    }
  | {
      readonly kind: 'incident'
      readonly recorded_at: string
      readonly agent_id: string | null
      /** Null for a registration. */
      readonly task_id: string | null
      readonly step: number | null
      /** The evaluation that found the violation: with the policy it identifies the incident. */
      readonly evaluation_id: string
      readonly violation: Omit<StepViolation, 'message' | 'violation_details'> & { readonly violation_details: unknown }
      /** True if the recorded step ran; absent for a registration, and for a task that ended without a step. */
      readonly effect?: Effect
      /** A violated policy, or a blocked step that was executed. */
      readonly reason: 'violated' | 'executed_although_blocked'
    }
  | UnrecordedLine
  | GapLine

/**
 * A decision whose step was not recorded in time; one line for each, unless too many come at once. `others`: how many came
 * with it that have no line.
 */
export interface UnrecordedLine {
  readonly kind: 'unrecorded'
  readonly recorded_at: string
  readonly task_id: string
  readonly agent_id: string | null
  readonly evaluation_id: string
  readonly decided_at: string
  readonly outcome: Evaluation['outcome']
  readonly reason: string | null
  readonly action_digest: string
  readonly intended: Pick<Behavior, 'step_type' | 'verb' | 'step_name'>
  readonly violations: readonly {
    readonly policy_id: number
    readonly name: string
    readonly code: string | null
    /** Absent for one that counts. */
    readonly waived?: boolean
  }[]
  readonly others?: number
}

/** Steps that were dropped because what waits for the platform had no more room. */
export interface GapLine {
  readonly kind: 'gap'
  readonly recorded_at: string
  readonly gap_id: string
  /** Null for steps of several tasks. */
  readonly task_id: string | null
  readonly steps: number
  readonly first_step: number | null
  readonly last_step: number | null
  readonly from: string
  readonly to: string
  readonly reason: 'spool_full'
}

export interface Sink {
  /** True when lines go to standard output; nothing else may be printed there. */
  readonly on_stdout: boolean
  /** Throws only when the line of an end does not fit into the buffer. */
  readonly write: (line: TraceLine) => void
  /** Resolves once all lines have left this process or failed to: no step fails because of its trace. */
  readonly settled: () => Promise<void>
  /** Reads earlier lines back; null for a sink that cannot. */
  readonly recall: Recall | null
  /** Resolves once all lines are durable. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
  /** Absent for a sink without a queue. */
  readonly status?: () => DeliveryStatus
}
