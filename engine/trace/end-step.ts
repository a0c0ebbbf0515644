// The end of a task through /end_task as a step, for receivers that know steps only.
import type { TraceLine } from './sink.js'

type StepLine = Extract<TraceLine, { kind: 'step' }>

/** Null for a task that needs no step to end: it has none, or a task.end. */
export function stepOfEnd(line: Extract<TraceLine, { kind: 'end' }>): StepLine | null {
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
