// The end of a task through /end_task as a step, for receivers that know steps only, and for its history.
import type { Behavior } from '@svc/schemas'

/** The line of the trace. */
interface EndLine {
  readonly recorded_at: string
  readonly task_id: string
  readonly step?: number
  readonly agent_id?: string
}

/** Null for a task that needs no step to end: it has none, or a task.end. */
export function stepOfEnd(
  line: EndLine,
): ({ readonly kind: 'step'; readonly recorded_at: string; readonly task_id: string } & Behavior) | null {
  const { recorded_at, task_id, step, agent_id } = line
  if (step === undefined) return null
  return {
    kind: 'step',
    recorded_at,
    task_id,
    ...(agent_id !== undefined && { agent_id }),
    step_type: 'task.end',
    step,
    timestamp: recorded_at,
    meta: { 'svc.end': 'end_task' },
  }
}
