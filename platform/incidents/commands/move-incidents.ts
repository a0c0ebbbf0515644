// One move of several incidents, each with its own result.
import type { IncidentBulk, IncidentBulkResult } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { errorTable, PlatformError } from '../../errors.js'
import { problemOf } from '../../http/problem.js'
import type { Triggering } from '../actions/triggers.js'
import { type IncidentMove, moveWithin, noteOf } from './move-incident.js'

/**
 * Incidents moved in one transaction, which holds the lock of the organization's log, for which every step that is logged
 * waits.
 */
const chunkSize = 20

/** Moves the incidents, in order. A result with a problem left its incident as it was. */
export async function moveIncidents(
  parts: Resources & Triggering,
  scope: Scope,
  { action, ids, ...text }: IncidentBulk,
  request_id: string,
): Promise<IncidentBulkResult[]> {
  const note = noteOf(action, text)
  const results: IncidentBulkResult[] = []
  for (let first = 0; first < ids.length; first += chunkSize) {
    const chunk = ids.slice(first, first + chunkSize)
    results.push(...(await moveChunk(parts, scope, chunk, action, note, request_id)))
  }
  return results
}

/** A transaction that fails as a whole is the result of each of its incidents. */
async function moveChunk(
  { db, clock, send }: Resources & Triggering,
  scope: Scope,
  ids: readonly string[],
  move: IncidentMove,
  note: string | null,
  request_id: string,
): Promise<IncidentBulkResult[]> {
  const failed = (id: string, error: unknown) => {
    if (!(error instanceof PlatformError)) throw error
    return { id, status: errorTable[error.code].status, problem: problemOf(error, request_id) }
  }
  try {
    return await withTransaction(db, scope, async (tx) => {
      const results: IncidentBulkResult[] = []
      for (const id of ids) {
        const moved = moveWithin({ send }, scope, tx, clock(), id, move, note)
        results.push(
          await moved.then(
            (incident) => ({ id, status: 200, incident }),
            (error) => failed(id, error),
          ),
        )
      }
      return results
    })
  } catch (error) {
    return ids.map((id) => failed(id, error))
  }
}
