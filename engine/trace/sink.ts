// Where the local engine's trace goes: a line for each step, each incident and each end of a task.
import type { Behavior, JsonMap, StepViolation } from '@svc/schemas'
import type { Recall } from './recall.js'

export type TraceLine =
  /** A task that /end_task has ended: its id used again is a new task. No step of the agent. */
  | { readonly kind: 'end'; readonly recorded_at: string; readonly task_id: string }
  | ({ readonly kind: 'step'; readonly recorded_at: string } & Behavior)
  /** A step that was evaluated and blocked: it did not happen, so that no reader takes it for a step of the task. */
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
      /** Null at a registration. */
      readonly task_id: string | null
      readonly step: number | null
      readonly violation: Omit<StepViolation, 'violation_details'> & { readonly violation_details: unknown }
      /** Why it is one: a policy, or a blocked step that was carried out all the same. */
      readonly reason: 'violated' | 'executed_although_blocked'
    }

export interface Sink {
  /** True when lines go to standard output, where nothing else may then be printed. */
  readonly on_stdout: boolean
  /** Throws only for a line of an end that cannot be kept until it is written. */
  readonly write: (line: TraceLine) => void
  /** Resolves once what has been written has left this process, or has failed to: no step fails for its trace. */
  readonly settled: () => Promise<void>
  /** What was written earlier, where it can be read back. */
  readonly recall: Recall | null
  /** Resolves once everything written is where it will survive this process. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Leaves `input` and `output` out of a line; `properties` and `meta` stay (SVC_LOG_PAYLOADS=metadata_only). */
export function withoutPayloads(line: TraceLine): TraceLine {
  if (line.kind === 'evaluation') {
    const { input: _input, output: _output, ...intended } = line.intended
    return { ...line, intended }
  }
  if (line.kind !== 'step') return line
  const { input: _input, output, ...rest } = line
  // How it ended is no payload, as long as it is a word: whether a step was blocked must stay readable.
  const status = output?.status
  return typeof status === 'string' ? { ...rest, output: { status } } : rest
}
