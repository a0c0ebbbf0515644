// Erasing what a task carries (log.md §7): chain and proofs stay whole, and the log says who erased it and why.
import type { Erasure, ErasureRequest } from '@svc/schemas'
import { PlatformError } from '../errors.js'
import { newId } from '../ids.js'
import type { Platform } from '../platform.js'
import { withTransaction } from '../store/db.js'
import { eraseEvidence, erasePayloads, insertErasure, type Places } from '../store/erasures.js'
import { recordEvents } from '../store/events.js'
import { appendLeaves } from '../store/leaves.js'
import { lockLog } from '../store/log.js'
import type { Scope } from '../store/scope.js'
import { readHead } from '../store/tasks.js'

/** Copies that are out of reach from here. */
const not_reached = [
  'backups of the database',
  'traces and caches of local engines, and what agents keep themselves',
  'answers kept for idempotency keys, up to 24 hours',
  'the identifiers of the task and of its agent, which every record holds',
]

/** Erases the payloads of a task. Rejects with NOT_FOUND, or with CONFLICT when there is nothing left to erase. */
export async function eraseTask(
  { db, clock }: Platform,
  scope: Scope,
  { task_id, legal_basis }: ErasureRequest,
): Promise<Erasure & { not_reached: string[] }> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    if ((await readHead(scope, tx, task_id)) === null) throw new PlatformError('NOT_FOUND', 'no such task')
    const places = await erasePayloads(scope, tx, task_id)
    if (places.length === 0) throw new PlatformError('CONFLICT', 'what this task carried is erased already')
    await eraseEvidence(scope, tx, task_id)
    const { kind, id: by } = scope.actor
    const erasure: Erasure = {
      ...{ id: newId('era', now), task_id, legal_basis, erased_by: `${kind}:${by}` },
      ...{ erased_at: new Date(now).toISOString(), entries: places.length },
    }
    await insertErasure(scope, tx, erasure)
    const data = { erasure: { ...erasure, entries: rangesOf(places) } }
    await appendLeaves(scope, tx, now, [{ type: 'erasure', subject_id: task_id, data }])
    const event = { kind: 'task.erased', subject_kind: 'task', subject_id: task_id, data: { ...erasure } }
    await recordEvents(scope, tx, now, [event])
    return { ...erasure, not_reached }
  })
}

/** Ascending places as ranges. */
function rangesOf(places: readonly number[]): Places[] {
  const ranges: [number, number][] = []
  for (const place of places) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === place - 1) last[1] = place
    else ranges.push([place, place])
  }
  return ranges
}
