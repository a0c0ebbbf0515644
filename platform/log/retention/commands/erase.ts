// Erases payloads (docs/design/log.md §7): chains and proofs stay valid, and the log records who erased them and why.
import { type Erasure, type ErasureRequest, type ErasureResult, isoTime } from '@svc/schemas'
import { changeAs } from '../../../access/commands/members.js'
import type { Resources, Transaction } from '../../../db/db.js'
import { newId } from '../../../db/ids.js'
import { actorText, type Scope } from '../../../db/scope.js'
import { invalidTransition, PlatformError } from '../../../errors.js'
import { admins } from '../../../http/principal.js'
import { recordEvents } from '../../../ledger/events.js'
import { appendLeaves } from '../../../ledger/leaves.js'
import { readHead } from '../../../ledger/log.js'
import { forgetSubjects, indexesOfSubject } from '../../../ledger/subjects.js'
import type { Sealer } from '../../../secrets/seal.js'
import {
  eraseActions,
  eraseEvidence,
  eraseIncidentLeaves,
  eraseMemoryPaths,
  eraseOrigins,
  erasePayloads,
  eraseSpanNames,
  insertErasure,
  type TaskEntry,
  withPayloadAt,
  withPayloadOfTask,
} from '../../read/store/erasures.js'
import { spansOfIndexes } from '../spans.js'
import { assertNotHeld } from '../store/holds.js'
import { reportsOver } from '../store/reports.js'

/** Copies that this erasure cannot reach. */
const notReached = [
  'backups of the database, and bundles that were made or archived before',
  'traces and caches of local engines, and data that agents store themselves',
  'responses stored for idempotency keys, for up to 24 hours',
  'the identifiers of tasks and agents, which every record holds',
  'keyed digests of what agents wrote to their memories',
  'reasons of decisions without a recorded step, in the audit trail',
]
const notReachedBySubject = 'other steps of the same tasks, and steps that do not name the subject: erase those by task'

/**
 * Erases the payloads of a task, or of every step that names a subject. Rejects with NOT_FOUND, with
 * INVALID_TRANSITION when everything is already erased, and with CONFLICT when a hold is active.
 */
export async function erase(
  parts: Resources & { readonly sealer: Sealer },
  scope: Scope,
  request: ErasureRequest,
): Promise<ErasureResult> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const steps = await stepsToErase(scope, tx, parts.sealer, request)
    const task_ids = [...new Set(steps.map(({ task_id }) => task_id))]
    await assertNotHeld(scope, tx, task_ids)
    const log_indexes = steps.map(({ log_index }) => log_index)
    await erasePayloads(scope, tx, log_indexes)
    await forgetSubjects(scope, tx, log_indexes)
    await eraseMemoryPaths(scope, tx, log_indexes)
    await eraseOrigins(scope, tx, log_indexes)
    await eraseActions(scope, tx, log_indexes, task_ids)
    await eraseSpanNames(scope, tx, task_ids)
    const erased = [...steps, ...(await eraseIncidentLeaves(scope, tx, task_ids))]
    await eraseEvidence(scope, tx, task_ids)
    const { task_id = null, legal_basis } = request
    const erasure: Erasure = {
      id: newId('era', now),
      task_id,
      legal_basis,
      erased_by: actorText(scope),
      erased_at: isoTime(now),
      entries: erased.length,
      tasks: task_ids.length,
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
    const ofSubject = task_id === null ? [notReachedBySubject] : []
    const reports = reportsText(await reportsOver(scope, tx, log_indexes))
    return { ...erasure, not_reached: [...notReached, ...ofSubject, ...reports] }
  })
}

/** The maximum number of reports that an answer names. */
const maxReports = 20

/** Reports hold no payload, but reasons of violations and notes of people, which can repeat some of it. */
function reportsText(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const more = ids.length > maxReports ? ` and ${ids.length - maxReports} more` : ''
  const named = `${ids.slice(0, maxReports).join(', ')}${more}`
  return [`reports with reasons of violations and notes of that time, and their downloaded files: ${named}`]
}

async function stepsToErase(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  { task_id, subject_id }: ErasureRequest,
): Promise<TaskEntry[]> {
  if (subject_id !== undefined) {
    const steps = await withPayloadAt(scope, tx, await indexesOfSubject(scope, tx, sealer, subject_id))
    if (steps.length === 0) throw new PlatformError('NOT_FOUND', 'no step holds data of this subject')
    return steps
  }
  if (task_id === undefined || (await readHead(scope, tx, task_id)) === null)
    throw new PlatformError('NOT_FOUND', 'no such task')
  const steps = await withPayloadOfTask(scope, tx, task_id)
  if (steps.length === 0) throw invalidTransition('erase', 'the content of a task', 'erased', ['stored'])
  return steps
}

/** One leaf per task, which the verification of the task reads. No leaf names a subject. */
function leafOf(task_id: string, erasure: Erasure, erased: readonly TaskEntry[]) {
  const log_indexes = erased.filter((one) => one.task_id === task_id).map(({ log_index }) => log_index)
  const data = { erasure: { ...erasure, task_id, entries: spansOfIndexes(log_indexes.sort((a, b) => a - b)) } }
  return { type: 'erasure', subject_id: task_id, data } as const
}
