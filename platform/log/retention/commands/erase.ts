// Erasing what entries carry (docs/design/log.md §7): chain and proofs stay whole, and the log says who erased it and why.
import type { IndexSpan } from '@svc/proof'
import type { Erasure, ErasureRequest, ErasureResult } from '@svc/schemas'
import { assertMayStill } from '../../../access/commands/members.js'
import { type Resources, type Transaction, withTransaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import type { Scope } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { appendLeaves } from '../../../ledger/leaves.js'
import { lockLog, readHead } from '../../../ledger/log.js'
import { forgetSubjects, placesOfSubject } from '../../../ledger/subjects.js'
import type { Sealer } from '../../../secrets/seal.js'
import {
  type Carrying,
  carryingAt,
  carryingOfTask,
  eraseEvidence,
  eraseIncidentLeaves,
  erasePayloads,
  insertErasure,
} from '../../read/store/erasures.js'
import { refuseHeld } from '../store/holds.js'

/** Copies that are out of reach from here. */
const beyond = [
  'backups of the database, and bundles that were made or archived before',
  'traces and caches of local engines, and what agents keep themselves',
  'answers kept for idempotency keys, up to 24 hours',
  'the identifiers of tasks and agents, which every record holds',
]
const beyondSubject = 'other steps of the same tasks, and steps that do not name the subject: erase those by task'

/**
 * Erases the payloads of a task, or of every step that names a subject. Rejects with NOT_FOUND, with CONFLICT when there is
 * nothing left to erase, and with CONFLICT while a hold is on.
 */
export async function erase(
  { db, clock, sealer }: Resources & { readonly sealer: Sealer },
  scope: Scope,
  request: ErasureRequest,
): Promise<ErasureResult> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    await assertMayStill(scope, tx, admins)
    await lockLog(scope, tx)
    const steps = await chosen(scope, tx, sealer, request)
    const task_ids = [...new Set(steps.map(({ task_id }) => task_id))]
    await refuseHeld(scope, tx, task_ids)
    const places = steps.map(({ log_index }) => log_index)
    await erasePayloads(scope, tx, places)
    await forgetSubjects(scope, tx, places)
    const erased = [...steps, ...(await eraseIncidentLeaves(scope, tx, task_ids))]
    await eraseEvidence(scope, tx, task_ids)
    const { kind, id: by } = scope.actor
    const { task_id = null, legal_basis } = request
    const erasure: Erasure = {
      ...{ id: newId('era', now), task_id, legal_basis, erased_by: `${kind}:${by}` },
      ...{ erased_at: new Date(now).toISOString(), entries: erased.length, tasks: task_ids.length },
    }
    await insertErasure(scope, tx, erasure)
    await appendLeaves(
      scope,
      tx,
      now,
      task_ids.map((one) => leafOf(one, erasure, erased)),
    )
    const [subject_kind, subject_id] = task_id === null ? ['erasure', erasure.id] : ['task', task_id]
    const event = { kind: 'payload.erased', subject_kind, subject_id, data: { ...erasure } }
    await recordEvents(scope, tx, now, [event])
    return { ...erasure, not_reached: task_id === null ? [...beyond, beyondSubject] : beyond }
  })
}

async function chosen(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  { task_id, subject_id }: ErasureRequest,
): Promise<Carrying[]> {
  if (subject_id !== undefined) {
    const steps = await carryingAt(scope, tx, await placesOfSubject(scope, tx, sealer, subject_id))
    if (steps.length === 0) throw new PlatformError('NOT_FOUND', 'no step here carries data of this subject')
    return steps
  }
  if (task_id === undefined || (await readHead(scope, tx, task_id)) === null)
    throw new PlatformError('NOT_FOUND', 'no such task')
  const steps = await carryingOfTask(scope, tx, task_id)
  if (steps.length === 0) throw new PlatformError('CONFLICT', 'what this task carried is erased already')
  return steps
}

/** A leaf for each task, so that its verdict finds what was erased of it; a subject is named in none. */
function leafOf(task_id: string, erasure: Erasure, erased: readonly Carrying[]) {
  const places = erased.filter((one) => one.task_id === task_id).map(({ log_index }) => log_index)
  const data = { erasure: { ...erasure, task_id, entries: rangesOf(places.sort((a, b) => a - b)) } }
  return { type: 'erasure', subject_id: task_id, data } as const
}

/** Ascending places as ranges. */
function rangesOf(places: readonly number[]): IndexSpan[] {
  const ranges: [number, number][] = []
  for (const place of places) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === place - 1) last[1] = place
    else ranges.push([place, place])
  }
  return ranges
}
