// A stored step: its columns in the log, and its payload.
import type { StoredEntry } from '@svc/proof'
import type { Step } from '@svc/schemas'

/** The columns of an entry that are members of its step. */
export const stepColumns = [
  'agent_id',
  'task_id',
  'step',
  'step_type',
  'timestamp',
  'is_external_call',
  'has_write_permission',
] as const

export type StepColumns = Pick<StoredEntry, (typeof stepColumns)[number]>

/** A stored step with its payload, which is null once it is erased. */
export function stepOf(entry: StepColumns, body: string | null): Step {
  const { evaluation: _, ...payload } = body === null ? {} : (JSON.parse(body) as Record<string, unknown>)
  const { agent_id, task_id, step, step_type, timestamp, is_external_call, has_write_permission } = entry
  return { ...payload, agent_id, task_id, step, step_type, timestamp, is_external_call, has_write_permission }
}
