// Which recorded tasks can be replayed whole, and why others cannot.
import type { DryRunReport } from '@svc/schemas'
import type { RecordedTask, StoredTask } from './tasks-store.js'

export type LeftOutReason = DryRunReport['left_out'][number]['reason']

/** Of one task: one that is larger is not replayed. */
export const maxOfTask = { steps: 10_000, bytes: 8 * 1024 * 1024 }

/** Why the task cannot be replayed whole; null when it can. That it has no content is known once its steps are read. */
export function reasonToLeaveOut(
  { seq }: RecordedTask,
  { entries, payloads, bytes }: StoredTask,
  max_bytes: number,
): Exclude<LeftOutReason, 'metadata_only'> | null {
  if (entries < seq) return 'pruned'
  if (payloads < entries) return 'payload_erased'
  return bytes > max_bytes ? 'too_long' : null
}
