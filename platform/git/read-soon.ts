// Sends the reading of a branch to the queue.
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { SendOptions } from '../jobs/job.js'
import type { ReadingParts } from './parts.js'

export const reconcileName = 'reconcile-repository'

export function sendReading(
  { send }: Pick<ReadingParts, 'send'>,
  { org_id }: Pick<Scope, 'org_id'>,
  repo_id: number,
  options: SendOptions = {},
): Promise<void> {
  return send(reconcileName, { org_id, repo_id }, options)
}

/** Lets one branch be read before those that the timer reads; with a transaction, when it commits. */
export function readSoon(
  parts: Pick<ReadingParts, 'send'>,
  scope: Scope,
  repo_id: number,
  tx?: Transaction,
): Promise<void> {
  return sendReading(parts, scope, repo_id, { isUrgent: true, ...(tx !== undefined && { tx }) })
}
