// Sends the reading of a branch to the queue.
import { withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { SendOptions } from '../jobs/job.js'
import type { ReadingParts } from './parts.js'
import { markDue } from './store/repositories.js'

export const reconcileName = 'reconcile-repository'

export function sendReading(
  { send }: Pick<ReadingParts, 'send'>,
  { org_id }: Pick<Scope, 'org_id'>,
  repo_id: number,
  options: SendOptions = {},
): Promise<void> {
  return send(reconcileName, { org_id, repo_id }, options)
}

/** Lets one branch be read soon, also when the process that takes the job is killed. */
export async function readSoon(
  { db, clock, send }: Pick<ReadingParts, 'db' | 'clock' | 'send'>,
  scope: Scope,
  repo_id: number,
): Promise<void> {
  await withTransaction(db, scope, (tx) => markDue(scope, tx, repo_id, clock()))
  // A push does not wait for the branches that the timer reads.
  await sendReading({ send }, scope, repo_id, { isUrgent: true })
}
