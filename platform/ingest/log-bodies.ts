// The bodies of POST /api/v1/logs for steps that a hosted evaluation asks for.
import { canonical } from '@svc/proof'
import type { Behavior, JsonMap } from '@svc/schemas'

/** The members that every body of an evaluation has. */
export interface LogBodyFields {
  readonly agent_id: string
  /** Absent when the evaluation named no task. */
  readonly task_id: string | undefined
  /** The next number of the task. */
  readonly step: number
  readonly timestamp: string
}

/** Makes the bodies of steps to be logged in this order; equal steps have one body, which can be sent once. */
export function logBodies({ agent_id, task_id, step: first, timestamp }: LogBodyFields): (step: Behavior) => JsonMap {
  const numbers = new Map<string, number>()
  return (step) => {
    const content = canonical(step)
    const number = numbers.get(content) ?? first + numbers.size
    numbers.set(content, number)
    return { ...(task_id !== undefined && { task_id }), agent_id, ...step, step: number, timestamp }
  }
}
